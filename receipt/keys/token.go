package keys

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"strconv"

	"filippo.io/mldsa"
	"github.com/go-jose/go-jose/v4"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

const (
	tokenPrefix = "jws:"

	// maxToken is the maximum length of an entire value, in bytes. This is more than the longest
	// escaped kid and the longest RSA signature need together.
	maxToken = 16 << 10
)

// A token is a detached compact JWS (RFC 7515 appendix F) with a valid form.
type token struct {
	text      string // without the prefix
	header    []byte // first part, still encoded
	signature []byte
}

// parseToken performs all checks of a token that require no key. go-jose is more lenient: it
// accepts line breaks, unused bits that are set, and unknown members in the header.
func parseToken(e *receipt.Entry, alg algorithm) (*token, *receipt.SignatureError) {
	malformed := func(format string, args ...any) (*token, *receipt.SignatureError) {
		return nil, refuse(receipt.CodeMalformedSignature, format, args...)
	}

	if len(e.Signature) > maxToken {
		return malformed("the value has %d bytes, at most %d are read", len(e.Signature), maxToken)
	}

	compact, ok := bytes.CutPrefix(e.Signature, []byte(tokenPrefix))
	if !ok {
		return malformed(`a signature with %s begins with "jws:"`, alg.name)
	}

	// A token has three parts, and its payload is empty (RFC 7515 section 7.1 and appendix F).
	parts := bytes.SplitN(compact, []byte{'.'}, 4)
	if len(parts) != 3 || len(parts[1]) != 0 {
		return malformed("not a detached compact JWS: a header, two dots, a signature")
	}

	// These are steps 2 to 5 of RFC 7515 section 5.2.
	header, err := decodeURL(parts[0])
	if err != nil {
		return malformed("the header is %v", err)
	}
	if problem := checkHeader(header, e); problem != "" {
		return malformed("%s", problem)
	}

	// Step 7. The length of a signature depends on the algorithm (RFC 7518 section 3).
	signature, err := decodeURL(parts[2])
	if err != nil {
		return malformed("the signature is %v", err)
	}
	if n := len(signature); alg.size != 0 && n != alg.size {
		return malformed("the signature has %d bytes, %s has %d", n, alg.name, alg.size)
	} else if alg.size == 0 && (n < minModulus/8 || n > maxModulus/8) {
		return malformed("the signature has %d bytes, %s has %d to %d", n, alg.name, minModulus/8, maxModulus/8)
	}

	return &token{text: string(compact), header: parts[0], signature: signature}, nil
}

// checkHeader checks that the header contains alg, kid, optionally iat, and nothing else. Each
// member must have the same value as in the entry, which is not signed.
func checkHeader(header []byte, e *receipt.Entry) (problem string) {
	doc := new(canon.Document)
	if err := doc.Parse(header, canon.Limits{Depth: 8}); err != nil {
		return "the header is not strict JSON: " + err.Error()
	}

	// JSON may have whitespace before and after the object, just as inside it (RFC 8259 section 2).
	root := doc.Root()
	if root.Kind() != canon.KindObject {
		return "the header is not a JSON object"
	}

	// This rejects crit (RFC 7515 section 4.1.11) and members that refer to keys: jku, jwk, x5u,
	// and x5c.
	for name := range root.Members() {
		switch name.String() {
		case "alg", "kid", "iat":
		default:
			return "the header has the member " + quote(name.Text()) + "; only alg, kid and iat are allowed"
		}
	}

	// The entry is not signed. The values in the entry can be trusted only because the header
	// contains the same values.
	if alg := root.Member("alg"); alg.Kind() != canon.KindString || !bytes.Equal(alg.Text(), e.Algorithm) {
		return "alg of the header is not the entry's algorithm"
	}
	if kid := root.Member("kid"); kid.Kind() != canon.KindString || !bytes.Equal(kid.Text(), e.KeyID) {
		return "kid of the header is not the entry's key_id"
	}

	return checkIssuedAt(root.Member("iat"), e.SignedAt)
}

// checkIssuedAt compares iat, which is signed, with signed_at, which is not. It reports no problem
// if either is missing.
func checkIssuedAt(iat canon.Node, signedAt []byte) (problem string) {
	if iat.IsZero() {
		return ""
	}
	seconds, err := strconv.ParseInt(string(iat.Raw()), 10, 64)
	if err != nil || iat.Kind() != canon.KindNumber {
		return "iat of the header is not a whole number of seconds"
	}
	if signedAt == nil {
		return ""
	}
	if at, err := receipt.ParseTime(signedAt); err != nil || at.Unix() != seconds {
		return "iat of the header is not the entry's signed_at in whole seconds"
	}
	return ""
}

// verifyToken verifies only the cryptographic signature. The algorithm is determined by the key.
func (k *PublicKey) verifyToken(t *token, message []byte) *receipt.SignatureError {
	if public, ok := k.material.(*mldsa.PublicKey); ok { // algorithm from RFC 9964, which go-jose does not support
		return k.judged(mldsa.Verify(public, t.input(message), t.signature, nil) == nil)
	}
	name := k.Algorithm
	if name == Ed25519 {
		name = edDSA
	}
	if message == nil {
		message = []byte{} // go-jose would treat nil as an attached payload
	}
	jws, err := jose.ParseDetached(t.text, message, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(name)})
	valid := err == nil && jws.DetachedVerify(message, k.material) == nil
	if alg, _ := algorithmOf(name); valid && alg.family == familyPSS {
		valid = verifySalt(k.material, alg.hash, t.input(message), t.signature)
	}
	return k.judged(valid)
}

// input returns the bytes that are signed (RFC 7515 section 5.1, step 8).
func (t *token) input(message []byte) []byte {
	return []byte(string(t.header) + "." + encodeURL(message))
}

// judged returns nil if a signature is valid, and an error otherwise.
func (k *PublicKey) judged(valid bool) *receipt.SignatureError {
	if valid {
		return nil
	}
	return refuse(receipt.CodeSignatureInvalid, "not a signature of %s over the stated hash", quote(k.ID))
}

// verifySalt checks that the salt is as long as the hash (RFC 7518 section 3.5). go-jose accepts a
// salt of any length.
func verifySalt(m material, hash crypto.Hash, input, sig []byte) bool {
	h := hash.New()
	h.Write(input)
	options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	return rsa.VerifyPSS(m.(*rsa.PublicKey), hash, h.Sum(nil), sig, options) == nil
}
