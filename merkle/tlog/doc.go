// Package tlog reads and writes the documents that a transparency log signs, and proofs about its
// tree (package merkle), in C2SP formats: checkpoints as signed notes (c2sp.org/tlog-checkpoint),
// cosignatures of witnesses (c2sp.org/tlog-cosignature), and inclusion proofs as files
// (c2sp.org/tlog-proof). Consistency proofs between two checkpoints have a format that this module
// defines.
//
// A [Checkpoint] states that a log, identified by its origin, had a tree with a size and a root. A
// [Log] verifies the signatures of one of a log's keys. A [Witness] verifies cosignatures by a
// party that observed the log's growth. The package does not decide which keys to trust: keys are
// parameters.
//
// # Stability
//
// The API of this package may still change. The formats are defined by C2SP and do not change.
package tlog
