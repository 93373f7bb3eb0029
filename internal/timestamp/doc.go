// Package timestamp requests and verifies time-stamp tokens (RFC 3161). A token is a statement by
// an authority, which is neither the issuer nor the verifier, that bytes existed before a given
// time.
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
// An authority stores the imprints that it signs. The imprint covers a random salt, so that nobody
// can look up a published digest among the stored imprints:
//
//	SHA-256("receipt-anchor-blind/v1" LF ‖ 32 bytes of salt ‖ 32 bytes of digest)
//
// # Verification
//
// Package tspclient verifies the signature of the token (RFC 5652), the hash of the signer's
// certificate in the token (RFC 5816), and the chain from this certificate to a root at the time of
// the token. This package checks the rest: the parts of the token that it reads are DER; the
// imprint, nonce, and policy match the request; the time is in UTC and not in the future; no
// extension is critical; and RSA keys have at least 2,048 bits. If a token states no accuracy, an
// accuracy of one second is assumed, because times are written in whole seconds.
//
// # Limits
//
// A token does not show how much older the bytes are, who created them, or that their statements
// are true. The package does not check whether the authority's certificate was revoked.
package timestamp
