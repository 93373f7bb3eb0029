// Package timestamp requests and verifies time-stamp tokens (RFC 3161), which show that bytes
// existed before a time, according to an authority that is neither the issuer nor the verifier.
//
// # Format
//
// A [Stamp] is a JSON object in its canonical form (RFC 8785):
//
//	digest  "sha256:" and the SHA-256 of the stamped bytes; for a receipt, its receipt_hash
//	kind    "receipt", "checkpoint" (the text of the note, without signatures), or "statement"
//	nonce   of the request: 32 hexadecimal digits
//	policy  optional: the object identifier of the policy that the request requires
//	salt    64 hexadecimal digits, random for each request
//	schema  "timestamp-2026-11"
//	token   the answer of the authority, in DER and base64; absent until it is attached
//
// # Imprint
//
// An authority keeps the imprints that it signs. So that nobody can look up a published digest
// among them, the imprint covers a random salt:
//
//	SHA-256("receipt-anchor-blind/v1" LF ‖ 32 bytes of salt ‖ 32 bytes of digest)
//
// # Verification
//
// Package tspclient verifies the signature of the token (RFC 5652), the hash of the signer's
// certificate in it (RFC 5816), and the chain from that certificate to a root at the time of the
// token. This package checks the rest: the token is DER in the parts that it reads; the imprint,
// nonce, and policy are those of the request; the time is in UTC and not in the future; no
// extension is critical; and RSA keys have at least 2,048 bits. A token that states no accuracy is
// treated as accurate to one second, because times are written in whole seconds.
//
// # Limits
//
// A token does not show how much older the bytes are, who made them, or that they are true.
// Revocation of the authority's certificate is not checked.
package timestamp
