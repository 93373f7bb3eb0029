// Package monitor follows logs of receipt hashes, and reports actions that are forbidden for log
// operators.
//
// A monitor stores, for each log, the last checkpoint that was valid under a policy. It compares
// each new checkpoint with the stored one, reads the entries that were added, and compares the
// checkpoints that the witnesses serve. Two signed checkpoints that contradict each other are
// stored as evidence, because they convince anyone who trusts the key of the log.
package monitor
