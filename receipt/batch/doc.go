// Package batch creates batches that follow the content profile, and parses their manifests.
//
// The chain.merkle_root in a receipt states which receipts were sealed together with it. The root
// is covered by the receipt hash, so the leaves cannot be receipt hashes: the hash would be needed
// to compute the root, and the root to compute the hash. For the same reason, the leaves cannot
// depend on previous_receipt_hash. The content profile therefore omits the entire chain from the
// leaves:
//
//	leaf data     the canonical form (RFC 8785) of the receipt, without its
//	              members chain and signatures
//	leaf hash     SHA-256(0x00 ‖ leaf data)              RFC 9162 section 2.1.1
//	merkle_root   the RFC 9162 root of the leaf hashes, in the order of the
//	              batch: "sha256:" and 64 hexadecimal digits
//
// [Seal] computes the leaves and the root, links the receipts to the heads of their streams,
// computes their hashes, and signs them, in this order.
//
// # The manifest
//
// A reader who has only one receipt learns nothing from the root. A [Manifest] therefore lists the
// receipts in a batch in order:
//
//	{"batch_version": 1,
//	 "merkle_root": "sha256:…",
//	 "profile": "content",
//	 "receipts": [{"leaf_hash": "sha256:…", "receipt_hash": "sha256:…",
//	               "receipt_id": "receipt_1"}]}
//
// It is written in canonical form, followed by a line feed, but any equivalent JSON is accepted
// (JSON Schema "batch" in package schemas). [ParseManifest] rejects a manifest whose root does not
// match its leaves. [Manifest.Check] rejects a receipt that is different from the receipt in the
// manifest. A manifest is not signed, and is only as trustworthy as the root, which is in each of
// the signed receipts. The root commits to the leaves, and each leaf commits to the ID and all
// other content of a receipt. The receipt itself commits to its receipt_hash, which must be equal
// to the hash in the manifest.
//
// These shell commands use jq to compute the leaf hash of a receipt and the root of two leaves:
//
//	(printf '\0'; jq 'del(.chain, .signatures)' receipt.json | receipt canon -) | sha256sum
//	(printf '\1'; jq -r '.receipts[].leaf_hash[7:]' manifest.json | xxd -r -p) | sha256sum
//
// # Other trees
//
// In an older construction, Harn hashes the textual form of the hashes, does not distinguish
// between leaves and nodes, and pairs an odd node with itself. With this construction, the lists a,
// b, c and a, b, c, c have the same root (CVE-2012-2459), and the root of a single receipt is its
// own hash. Roots from the older construction are rejected. [Manifest.Explain] recognizes roots
// that were computed with this construction or from the wrong data, and distinguishes them from
// other incorrect roots.
//
// # Stability
//
// The API of this package may still change. The profile will not change: a batch that is valid now
// is also valid in every later version.
package batch
