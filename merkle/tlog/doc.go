// Package tlog reads and writes the documents that a transparency log signs, and proofs about the
// log's tree (see package merkle). The formats are those of C2SP: checkpoints as signed notes
// (c2sp.org/tlog-checkpoint), cosignatures of witnesses (c2sp.org/tlog-cosignature), and inclusion
// proofs as files (c2sp.org/tlog-proof). For consistency proofs between two checkpoints, this
// module defines its own format.
//
// A [Checkpoint] states that a log, identified by its origin, had a tree with the given size and
// root. A [Log] verifies signatures by one of a log's keys. A [Witness] verifies cosignatures by a
// party that observes how the log grows. This package does not decide which keys are trusted; the
// caller supplies them.
//
// # Stability
//
// The API of this package may still change. C2SP defines the formats, which do not change.
package tlog
