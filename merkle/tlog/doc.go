// Package tlog reads and writes the documents that a transparency log signs and proves about a
// tree of package merkle, in the formats of C2SP: checkpoints as signed notes
// (c2sp.org/tlog-checkpoint), cosignatures of witnesses (c2sp.org/tlog-cosignature), and
// inclusion proofs as files (c2sp.org/tlog-proof). Consistency proofs between two checkpoints
// have a format of this module.
//
// A [Checkpoint] states that a log, identified by its origin, had a tree with a size and a
// root. A [Log] verifies the signatures of one key of a log. A [Witness] verifies those of a
// party that observed the growth of the log. The package does not decide which keys to trust:
// keys are parameters.
//
// # Stability
//
// The names of this package may still change. The formats are those of C2SP and do not change.
package tlog
