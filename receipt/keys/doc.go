// Package keys parses trusted keys, checks signatures with them, and generates new keys.
//
// # Trusted keys
//
// A trust file is a JWK Set (RFC 7517 section 5) of public signing keys, with at most [MaxSetBytes]
// bytes and [MaxKeys] keys. Each key has the members that are defined for its type (RFC 7518
// section 6, RFC 8037 section 2, RFC 9964 section 3) and
//
//	kid      required, unique in the file, at most 1,024 bytes
//	alg      required for RSA and AKP; for EC, the algorithm of the curve if
//	         present; for Ed25519, absent, "EdDSA", "Ed25519", or "ed25519",
//	         which all mean the same
//	use      "sig" if present
//	key_ops  contains "verify" if present
//	issuers  the issuer.id values that the key may sign for; if absent, only
//	         the one that the caller names
//	roles    any of "issuer", "witness", and "checkpoint"; if absent, "issuer".
//	         A key for ML-DSA-44 needs "witness" or "checkpoint"
//	origin   for a checkpoint key, the name of the log; for a witness, the name
//	         in its cosignatures, if that is not the kid
//	nbf exp  valid if nbf ≤ t < exp; whole seconds since 1970 (NumericDate
//	         without fractions), up to the end of the year 9999; if absent,
//	         valid_from and valid_until of RFC 3339
//	revoked  {"at": NumericDate, "reason": text}
//
// Other members are kept but ignored. In particular, jku, x5u, and x5c are not followed. If any key
// is invalid, [ParseSet] rejects the entire file and does not merely omit the key. It rejects
// duplicate kids, private and symmetric keys (whose values it does not show in the error), and keys
// that provide no security.
//
// # Signatures
//
// The signed message is the value of chain.receipt_hash, which is 71 ASCII characters. A signature
// has one of two forms.
//
//	ed25519   RFC 8032. "base64:" and the padded standard base64 of the 64
//	          signature bytes, 95 characters. crypto/ed25519 decides which
//	          signatures are valid.
//	EdDSA ES256 ES384 ES512 PS256 PS384 PS512 RS256 RS384 RS512 ML-DSA-65
//	          A detached compact JWS (RFC 7515 appendix F): "jws:", the protected
//	          header, "..", and the signature. The header and the signature are in
//	          base64url without padding. The header contains exactly alg, kid (the
//	          entry's key_id), and optionally iat (the entry's signed_at in whole
//	          seconds).
//
// For each value, only one encoding is accepted: without whitespace, and with all unused bits zero.
// The algorithm is determined by the trusted key, never by the token. If (r, s) is a valid ECDSA
// signature, (r, n−s) is valid, too, as in RFC 7518. A receipt must therefore never be identified
// by its signature. The salt of PS256, PS384, and PS512 is as long as the hash (RFC 7518 section
// 3.5).
//
// # Envelopes
//
// Package internal/attest puts a receipt into a DSSE envelope. The signed message of an envelope
// begins with "DSSEv1 ", and no other message does. [Set.CheckSignature] can also check the
// signature of an envelope. The value of such a signature is "base64:" followed by padded base64.
// The algorithm is determined by the key: Ed25519, ES256 (with signatures in DER), or ML-DSA-65. An
// entry does not have to name it.
//
// # Performance
//
// A [Set] counts the uses of each of its Ed25519 keys. At the 128th use of a key, the Set computes
// a table of multiples of that key. It computes tables for at most 16 keys. With a table, a check
// takes about a third of the time. The table of a key takes 1.2 MB, and a table that all keys of
// the Set share takes 3.8 MB, so all tables together take at most 23 MB. A check with a table
// returns the same result as crypto/ed25519, for the reasons explained in the documentation of
// package fixedbase. If [receipt.Policy.Plain] is set, tables are neither computed nor used. There
// are no tables for keys with other algorithms.
//
// # Signing
//
// [NewSigner] returns a signer for a [PrivateKey], and [NewRemoteSigner] returns a signer for a key
// that never leaves a KMS or an HSM. A signer signs only receipt hashes, envelopes, JSON objects,
// COSE messages, and log checkpoints. A signer with an ML-DSA-44 key signs only checkpoints.
package keys
