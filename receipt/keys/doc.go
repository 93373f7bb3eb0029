// Package keys reads trusted keys, checks signatures with them and makes new
// ones.
//
// # Trusted keys
//
// A trust file is a JWK Set (RFC 7517 section 5) of public signing keys, at most
// [MaxSetBytes] bytes and [MaxKeys] keys. Each key has the members of its type
// (RFC 7518 section 6, RFC 8037 section 2) and
//
//	kid      required, unique in the file, at most 1,024 bytes
//	alg      required for RSA; for EC the one of the curve; for Ed25519 nothing,
//	         "EdDSA", "Ed25519" or "ed25519", which all mean the same
//	use      "sig" when present
//	key_ops  contains "verify" when present
//	issuers  the issuer.id values that the key may speak for; absent: only the
//	         one that the caller names
//	roles    of issuer, witness, checkpoint; absent: issuer
//	origin   of a checkpoint key: the log's name
//	nbf exp  valid when nbf ≤ t < exp; whole seconds since 1970 (NumericDate
//	         without fractions), up to the end of the year 9999
//	revoked  {"at": NumericDate, "reason": text}
//
// Other members are kept and never interpreted: jku, x5u and x5c are not
// followed. [ParseSet] refuses the whole file rather than leaving a key out: for
// a duplicate kid, for private and symmetric keys (whose values no message
// shows), and for keys that give no security.
//
// # Signatures
//
// The message is the 71 ASCII bytes of chain.receipt_hash. There are two forms.
//
//	ed25519   RFC 8032. "base64:" and the standard padded base64 of the 64
//	          signature bytes, 95 characters. Accepted is what crypto/ed25519
//	          accepts.
//	EdDSA ES256 ES384 ES512 PS256 PS384 PS512 RS256 RS384 RS512
//	          A detached compact JWS (RFC 7515 appendix F): "jws:", the protected
//	          header, "..", the signature, both in base64url without padding. The
//	          header has exactly alg, kid (the entry's key_id) and optionally iat
//	          (the entry's signed_at in whole seconds).
//
// Each value has one accepted encoding: no white space, no unused bits. The
// algorithm is the trusted key's, never the token's. Of an ECDSA signature
// (r, s) the twin (r, n−s) is valid too, as in RFC 7518; nothing identifies a
// receipt by the text of a signature. A salt of PS256, PS384 and PS512 is as
// long as the hash (RFC 7518 section 3.5).
//
// # Envelopes
//
// Package attest puts a receipt into a DSSE envelope, whose message begins with
// "DSSEv1 ", as that of no other signature does. Its signature is judged by
// [Set.CheckSignature], too: the value is "base64:" and padded base64, the algorithm is
// the key's own, Ed25519 or ES256 (in DER), and an entry need not name it.
//
// # Speed
//
// A [Set] counts the uses of its Ed25519 keys, and makes a table of multiples of
// those that are used often: after 128 checks, for at most 16 keys, on the spot.
// With it a check takes about a third of the time. A table takes 1.2 MB, and 3.8 MB
// more for the one that all of a Set share, which is at most 23 MB in all. A table
// decides exactly what crypto/ed25519 does, as package fixedbase below explains;
// with [receipt.Policy.Plain] none is made or asked. ECDSA and RSA have none.
//
// # Signing
//
// [NewSigner] signs with a [PrivateKey], [NewRemoteSigner] with a key that never
// leaves a KMS or an HSM. A signer signs receipt hashes, and the envelopes of package
// attest, and nothing else.
package keys
