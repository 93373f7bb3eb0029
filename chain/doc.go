// Package chain defines what a receipt's hash covers and how receipts link.
//
// # Preimage and hash
//
// The preimage of a receipt is the RFC 8785 canonical form of the JSON object
// as it was received, without exactly two members: /chain/receipt_hash, and the
// top-level /signatures. Members of the same names elsewhere stay. Nothing is
// filled in and nothing is re-typed: an absent member and an empty one differ.
//
// The receipt hash is the SHA-256 of the preimage, written "sha256:" and 64
// lower-case hexadecimal digits. With a shell:
//
//	receipt canon --preimage receipt.json | sha256sum
//
// # Stream, link, head
//
// A stream is the sequence of receipts of one issuer, tenant and workspace.
// Each receipt names its predecessor's hash in /chain/previous_receipt_hash, the
// first one states null. The head of a stream is its last receipt's hash:
// whoever knows the head can tell whether anything before it was changed or
// removed.
package chain
