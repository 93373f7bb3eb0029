// Package monitor follows logs of receipt hashes, and reports actions that are forbidden for log
// operators.
//
// A monitor stores, for each log, the last checkpoint that was valid under a policy. It compares
// each new checkpoint with the stored one, reads the entries that were added, and compares the
// checkpoints that the witnesses serve. Two signed checkpoints that contradict each other are
// stored, because they are evidence for anyone who trusts the log's key.
//
// A log can also delete files and continue to sign the same tree. Entries are not stored, so each
// check reads up to 4,096 of the old entries again, starting where the previous check stopped. To
// read an entry, a monitor also reads the hash tiles that connect the entry with the root. A
// missing file is reported as unreachable, because nothing that the log signed shows that it was
// deleted.
package monitor
