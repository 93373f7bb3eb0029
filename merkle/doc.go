// Package merkle computes RFC 9162 Merkle trees and checks proofs against them.
//
// A tree is an ordered list of leaves. Its root is a [Hash] that commits to all
// of them and to their number:
//
//	leaf hash   SHA-256(0x00 ‖ data)            RFC 9162 section 2.1.1
//	node hash   SHA-256(0x01 ‖ left ‖ right)
//	root        of no leaves SHA-256(""), of one its leaf hash; of n > 1 the node
//	            over the first k leaves, k the largest power of two below n, and
//	            the others
//
// The prefixes keep a node from passing for a leaf. No leaf is doubled, so two
// lists never share a root by padding.
//
// An inclusion proof shows that a leaf is in a tree ([ProveInclusion],
// [CheckInclusion]); a consistency proof shows that a tree extends an earlier
// one ([ProveConsistency], [CheckConsistency]). Proofs are lists of hashes whose
// number follows from the sizes alone: a proof of any other length is refused
// before anything is hashed.
//
// With a shell, the root of the one-leaf tree over a file:
//
//	(printf '\0'; cat file) | sha256sum
package merkle
