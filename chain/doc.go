// Package chain defines which bytes a receipt's hash covers, and how receipts are linked.
//
// # Preimage and hash
//
// A receipt's preimage is the RFC 8785 canonical form of the JSON object as received, without
// exactly two members: /chain/receipt_hash and the top-level /signatures. Members with the same
// names elsewhere are not removed. Nothing is filled in, and no value changes its type: an absent
// member differs from an empty one.
//
// The receipt hash is the SHA-256 digest of the preimage, written as "sha256:" followed by 64
// lowercase hexadecimal digits. In a shell:
//
//	receipt canon --preimage receipt.json | sha256sum
//
// # Streams, links, and heads
//
// A stream is the sequence of receipts from one issuer, tenant, and workspace. Each receipt states
// the hash of its predecessor in /chain/previous_receipt_hash; the first receipt states null. A
// stream's head is the hash of its last receipt. Given the head, a verifier detects whether any
// earlier receipt was changed or removed.
package chain
