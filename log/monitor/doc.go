// Package monitor follows logs of receipt hashes, and reports what their keepers must not do.
//
// A monitor keeps the last checkpoint of each log that was valid under a policy. It compares each
// new checkpoint with it, reads the entries that were added, and compares the checkpoints that the
// witnesses serve. Two signed checkpoints that contradict each other are stored as evidence: they
// convince anyone who trusts the key of the log.
package monitor
