// Package merkle computes RFC 9162 Merkle trees, and creates and checks proofs about them.
//
// A tree is an ordered list of leaves. Its root is a [Hash] that commits to all leaves and to
// their number:
//
//	leaf hash   SHA-256(0x00 ‖ data)            RFC 9162 section 2.1.1
//	node hash   SHA-256(0x01 ‖ left ‖ right)
//	root        of no leaves SHA-256(""), of one its leaf hash; of n > 1 the node
//	            over the first k leaves, k the largest power of two below n, and
//	            the others
//
// The prefixes prevent an inner node from being presented as a leaf. Leaves are never duplicated,
// so padding cannot give two lists the same root.
//
// An inclusion proof shows that a leaf is in a tree ([ProveInclusion], [CheckInclusion]). A
// consistency proof shows that a tree extends an earlier tree ([ProveConsistency],
// [CheckConsistency]). A proof is a list of hashes; the index and the sizes determine its length. A
// proof with any other length is rejected before anything is hashed.
//
// In a shell, this command computes the root of a tree whose only leaf is a file:
//
//	(printf '\0'; cat file) | sha256sum
package merkle
