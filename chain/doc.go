// Package chain defines which bytes the hash of a receipt covers, and how receipts are linked to
// each other.
//
// # Preimage and hash
//
// A receipt's preimage is the RFC 8785 canonical form of the JSON object as received, with exactly
// two members omitted: /chain/receipt_hash and the top-level /signatures. Members with the same
// names elsewhere are not removed. No member is added and no value changes its type, so an absent
// member is different from an empty member.
//
// The receipt hash is the SHA-256 digest of the preimage, written as "sha256:" followed by 64
// lowercase hexadecimal digits. In a shell:
//
//	receipt canon --preimage receipt.json | sha256sum
//
// # Streams, links, and heads
//
// A stream is the sequence of receipts from one issuer, tenant, and workspace. Each receipt
// contains the hash of its predecessor in /chain/previous_receipt_hash, which is null in the first
// receipt. The head of a stream is the hash of its last receipt. Given the head, a verifier can
// detect whether any earlier receipt was changed or removed.
package chain
