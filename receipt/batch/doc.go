// Package batch creates batches of the content profile, and parses their manifests.
//
// A receipt with chain.merkle_root states which receipts were sealed together with it. The receipt
// hash covers the root, so a tree of receipt hashes would be circular: the hash would be needed to
// compute the root, and the root to compute the hash. A tree of values that contain
// previous_receipt_hash would be circular, too. The content profile therefore omits the entire
// chain:
//
//	leaf data     the canonical form (RFC 8785) of the receipt, without its
//	              members chain and signatures
//	leaf hash     SHA-256(0x00 ‖ leaf data)              RFC 9162 section 2.1.1
//	merkle_root   the RFC 9162 root of the leaf hashes, in the order of the
//	              batch: "sha256:" and 64 hexadecimal digits
//
// [Seal] computes the leaves and the root, links the receipts to the heads of their streams, hashes
// them, and signs them, in this order.
//
// # The manifest
//
// The root alone shows nothing to a reader who has only one receipt. A [Manifest] lists the
// receipts of a batch in order:
//
//	{"batch_version": 1,
//	 "merkle_root": "sha256:…",
//	 "profile": "content",
//	 "receipts": [{"leaf_hash": "sha256:…", "receipt_hash": "sha256:…",
//	               "receipt_id": "receipt_1"}]}
//
// It is written in canonical form with a final newline, but any JSON spelling is accepted (JSON
// Schema "batch" in package schemas). [ParseManifest] rejects a manifest whose root does not match
// its leaves. [Manifest.Check] rejects a receipt that differs from the listed receipt. A manifest
// is not signed. It is only as trustworthy as the root that each signed receipt states. The root
// commits to the leaves, and a leaf commits to the ID and all other content. The receipt itself
// commits to receipt_hash, which must equal the listed hash.
//
// In a shell with jq, these commands compute the leaf hash of a receipt and the root of two leaves:
//
//	(printf '\0'; jq 'del(.chain, .signatures)' receipt.json | receipt canon -) | sha256sum
//	(printf '\1'; jq -r '.receipts[].leaf_hash[7:]' manifest.json | xxd -r -p) | sha256sum
//
// # Other trees
//
// An older tree construction of Harn hashes the text of hashes, does not distinguish leaves from
// nodes, and pairs an odd node with itself. The lists a, b, c and a, b, c, c therefore have the
// same root (CVE-2012-2459), and the root of a single receipt is the receipt's own hash. Such roots
// are rejected. [Manifest.Explain] recognizes roots from this construction, and roots computed from
// the wrong data, and distinguishes them from roots that are merely incorrect.
//
// # Stability
//
// The API of this package may still change. The profile does not change: a batch that verified also
// verifies with every later version.
package batch
