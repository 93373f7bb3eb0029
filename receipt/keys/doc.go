// Package keys reads trusted keys, checks signatures with them, and generates new keys.
//
// # Trusted keys
//
// A trust file is a JWK Set (RFC 7517 section 5) of public signing keys, with at most [MaxSetBytes]
// bytes and [MaxKeys] keys. Each key has the members for its type (RFC 7518 section 6, RFC 8037
// section 2, RFC 9964 section 3) and
//
//	kid      required, unique in the file, at most 1,024 bytes
//	alg      required for RSA and AKP; for EC that of the curve; for Ed25519
//	         absent, "EdDSA", "Ed25519", or "ed25519", which all mean the same
//	use      "sig" if present
//	key_ops  contains "verify" if present
//	issuers  the issuer.id values that the key may speak for; absent: only the
//	         one that the caller names
//	roles    of issuer, witness, checkpoint; absent: issuer. A key for
//	         ML-DSA-44 needs witness or checkpoint
//	origin   of a checkpoint key: the name of the log; of a witness: the name
//	         in its cosignatures, if that is not the kid
//	nbf exp  valid if nbf ≤ t < exp; whole seconds since 1970 (NumericDate
//	         without fractions), up to the end of the year 9999; if absent,
//	         valid_from and valid_until of RFC 3339
//	revoked  {"at": NumericDate, "reason": text}
//
// Other members are kept but never interpreted: jku, x5u, and x5c are not followed. If a key is
// invalid, [ParseSet] rejects the entire file instead of omitting the key. It rejects duplicate
// kids, private and symmetric keys (without showing their values in the error), and keys that
// provide no security.
//
// # Signatures
//
// The message is the 71 ASCII bytes of chain.receipt_hash. A signature has one of two forms.
//
//	ed25519   RFC 8032. "base64:" and the padded standard base64 of the 64
//	          signature bytes, 95 characters. crypto/ed25519 decides which
//	          signatures are valid.
//	EdDSA ES256 ES384 ES512 PS256 PS384 PS512 RS256 RS384 RS512 ML-DSA-65
//	          A detached compact JWS (RFC 7515 appendix F): "jws:", the protected
//	          header, "..", the signature, both in base64url without padding. The
//	          header has exactly alg, kid (the entry's key_id), and optionally iat
//	          (the entry's signed_at in whole seconds).
//
// Each value has exactly one accepted encoding: no whitespace and no unused bits. The trusted key
// determines the algorithm; the token never does. For an ECDSA signature (r, s), the value (r, n−s)
// is also valid, as in RFC 7518. Receipts are never identified by the text of a signature. The salt
// of PS256, PS384, and PS512 is as long as the hash (RFC 7518 section 3.5).
//
// # Envelopes
//
// Package internal/attest puts a receipt into a DSSE envelope. An envelope's message begins with
// "DSSEv1 "; no other message begins this way. [Set.CheckSignature] also checks signatures on
// envelopes. The value of an envelope's signature is "base64:" followed by padded base64. The key
// determines the algorithm, which is Ed25519, ES256 (in DER), or ML-DSA-65, and an entry need not
// name it.
//
// # Performance
//
// A [Set] counts how often its Ed25519 keys are used. When a key has been used for 128 checks, the
// Set computes a table of multiples of that key during the call. It does so for at most 16 keys.
// With a table, a check takes about a third of the time. A table uses 1.2 MB, and all keys of a Set
// share another table of 3.8 MB, so the total is at most 23 MB. A check with a table returns
// exactly the same result as crypto/ed25519, as the documentation of package fixedbase explains.
// With [receipt.Policy.Plain], tables are neither computed nor used. Other keys have no tables.
//
// # Signing
//
// [NewSigner] signs with a [PrivateKey], and [NewRemoteSigner] signs with a key that never leaves a
// KMS or an HSM. A signer signs only receipt hashes, envelopes, JSON objects, COSE messages, and
// log checkpoints. ML-DSA-44 keys sign only checkpoints.
package keys
