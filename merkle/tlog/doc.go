// Package tlog reads and writes what a transparency log signs and proves about a
// tree of package merkle, in the formats of C2SP: checkpoints as signed notes
// (c2sp.org/tlog-checkpoint), cosignatures of witnesses (c2sp.org/tlog-cosignature),
// inclusion proofs as files (c2sp.org/tlog-proof), and consistency proofs between two
// checkpoints.
//
// A [Checkpoint] says that a log, named by its origin, had a tree of a size and a
// root. A [Log] verifies the signatures of one of its keys, a [Witness] those of
// somebody who saw the log grow. Nothing here decides whom to trust: keys are
// parameters.
//
// # Stability
//
// This package may still change: it is not of the frozen core. The formats are C2SP's
// and stay.
package tlog
