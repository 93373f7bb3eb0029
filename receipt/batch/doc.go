// Package batch creates batches of the content profile, and parses their manifests.
//
// A receipt that states chain.merkle_root states which receipts were sealed together with it.
// The root is inside the bytes that the receipt hash covers, so a tree of receipt hashes would
// be circular: the hash would have to be known before the root, and the root before the hash. A
// tree of anything that contains previous_receipt_hash would be circular, too. The content
// profile omits the entire chain:
//
//	leaf data     the canonical form (RFC 8785) of the receipt, without its
//	              members chain and signatures
//	leaf hash     SHA-256(0x00 ‖ leaf data)              RFC 9162 section 2.1.1
//	merkle_root   the RFC 9162 root of the leaf hashes, in the order of the
//	              batch: "sha256:" and 64 hexadecimal digits
//
// [Seal] computes the leaves, fills in the root, links the receipts to the heads of their
// streams, hashes them, and signs them, in this order.
//
// # The manifest
//
// The root alone shows nothing to a reader who has one receipt. A [Manifest] lists the receipts
// of a batch in order:
//
//	{"batch_version": 1,
//	 "merkle_root": "sha256:…",
//	 "profile": "content",
//	 "receipts": [{"leaf_hash": "sha256:…", "receipt_hash": "sha256:…",
//	               "receipt_id": "receipt_1"}]}
//
// It is written in canonical form with a final newline, and any spelling is accepted (JSON
// Schema "batch" of package schemas). [ParseManifest] rejects a manifest whose root is not the
// root of its leaves. [Manifest.Check] rejects a receipt that is not the listed one. A manifest
// is not signed. Its worth results from the root that each signed receipt states. A root
// vouches for the leaves, and a leaf vouches for the ID and all other content. The receipt
// itself vouches for receipt_hash, which must equal the listed hash.
//
// In a shell with jq, the leaf hash of a receipt, and the root of two leaves:
//
//	(printf '\0'; jq 'del(.chain, .signatures)' receipt.json | receipt canon -) | sha256sum
//	(printf '\1'; jq -r '.receipts[].leaf_hash[7:]' manifest.json | xxd -r -p) | sha256sum
//
// # Other trees
//
// An older tree of Harn hashes the texts of hashes, does not distinguish a leaf from a node,
// and pairs an odd node with itself. The lists a, b, c and a, b, c, c therefore have the same
// root (CVE-2012-2459), and the root of one receipt is its own hash. Such roots are rejected.
// [Manifest.Explain] distinguishes them, and other roots of the wrong data, from roots that are
// merely incorrect.
//
// # Stability
//
// The names of this package may still change. The profile does not change: a batch that
// verified also verifies with every later version.
package batch
