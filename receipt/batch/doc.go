// Package batch makes batches of the content profile, and reads their manifests.
//
// A receipt that states chain.merkle_root says which receipts were sealed
// together with it. The root lies inside the bytes that the receipt hash covers,
// so a tree over receipt hashes would be circular: the hash would have to be
// known before the root, and the root before the hash. So would a tree over
// anything that holds previous_receipt_hash. The content profile leaves the
// whole chain out:
//
//	leaf data     the canonical form (RFC 8785) of the receipt, without its
//	              members chain and signatures
//	leaf hash     SHA-256(0x00 ‖ leaf data)              RFC 9162 section 2.1.1
//	merkle_root   the RFC 9162 root over the leaf hashes, in the order of the
//	              batch: "sha256:" and 64 hexadecimal digits
//
// [Seal] computes the leaves, fills in the root, chains the receipts after the
// heads of their streams, hashes them, and signs them, in this order.
//
// # The manifest
//
// The root alone shows nothing to someone who has one receipt. A [Manifest] lists
// the receipts of a batch in order:
//
//	{"batch_version": 1,
//	 "merkle_root": "sha256:…",
//	 "profile": "content",
//	 "receipts": [{"leaf_hash": "sha256:…", "receipt_hash": "sha256:…",
//	               "receipt_id": "receipt_1"}]}
//
// It is written in canonical form with a newline after it, and read in any
// spelling (JSON Schema "batch" of package schemas). [ParseManifest] refuses one
// whose root is not the root of its leaves, and [Manifest.Check] a receipt that
// is not the one listed. Nobody signs a manifest: what it is worth comes from
// the root that each signed receipt states. A root vouches for the leaves, and a
// leaf for the id and all other content; receipt_hash is vouched for by the
// receipt itself, which has to have the one that is listed.
//
// With a shell and jq, the leaf hash of a receipt, and the root of two leaves:
//
//	(printf '\0'; jq 'del(.chain, .signatures)' receipt.json | receipt canon -) | sha256sum
//	(printf '\1'; jq -r '.receipts[].leaf_hash[7:]' manifest.json | xxd -r -p) | sha256sum
//
// # Other trees
//
// An older tree of Harn's hashes the texts of hashes, with nothing that tells a
// leaf from a node, and pairs an odd node with itself. So the lists a, b, c and
// a, b, c, c have one root (CVE-2012-2459), and the root of one receipt is its
// own hash. Such roots are refused; [Manifest.Explain] tells them, and others
// that are made of the wrong things, from roots that are merely false.
//
// # Stability
//
// This package may still change: it is not of the frozen core. The profile is: a batch that
// verified does so with every later version.
package batch
