package keys

import (
	"crypto"
	"crypto/elliptic"
	_ "crypto/sha256" // for ES256, PS256, and RS256
	_ "crypto/sha512" // for the other algorithms
	"fmt"

	"filippo.io/mldsa"
)

// These are the algorithms that a receipt may name, spelled exactly as in receipts. Ed25519 is the
// algorithm of RFC 8032, as it is spelled in the receipt format. The other algorithms in
// [Algorithms] have their JWS names (RFC 7518 section 3.1, RFC 8037 section 3.1, and RFC 9964).
const (
	Ed25519 = "ed25519"
	edDSA   = "EdDSA"
	es256   = "ES256"
	es384   = "ES384"
	es512   = "ES512"
	ps256   = "PS256"
	ps384   = "PS384"
	ps512   = "PS512"
	rs256   = "RS256"
	rs384   = "RS384"
	rs512   = "RS512"
	mldsa65 = "ML-DSA-65"
)

// MLDSA44 is an algorithm for keys that sign and cosign checkpoints (C2SP tlog-cosignature), but
// not receipts.
const MLDSA44 = "ML-DSA-44"

// Algorithms returns the names of all algorithms for signing receipts. The first is ed25519.
func Algorithms() []string {
	return []string{Ed25519, edDSA, es256, es384, es512, ps256, ps384, ps512, rs256, rs384, rs512, mldsa65}
}

type family uint8

const (
	familyEd25519 family = iota // the key type OKP
	familyECDSA                 // EC
	familyPSS                   // RSA
	familyPKCS1                 // RSA
	familyMLDSA                 // AKP
)

// An algorithm is an entry in the fixed list of algorithms.
type algorithm struct {
	name   string
	family family
	hash   crypto.Hash // hash applied to the message before signing, or 0 for none
	size   int         // length of a signature in bytes, or 0 for the length of the modulus
}

func algorithmOf[T ~string | ~[]byte](name T) (algorithm, bool) {
	switch string(name) {
	case Ed25519:
		return algorithm{Ed25519, familyEd25519, 0, 64}, true
	case edDSA:
		return algorithm{edDSA, familyEd25519, 0, 64}, true

	// The signature is R followed by S, each as long as the order of the curve (RFC 7518 section
	// 3.4).
	case es256:
		return algorithm{es256, familyECDSA, crypto.SHA256, 64}, true
	case es384:
		return algorithm{es384, familyECDSA, crypto.SHA384, 96}, true
	case es512:
		return algorithm{es512, familyECDSA, crypto.SHA512, 132}, true

	// The signature is as long as the modulus (RFC 7518 sections 3.3 and 3.5).
	case ps256:
		return algorithm{ps256, familyPSS, crypto.SHA256, 0}, true
	case ps384:
		return algorithm{ps384, familyPSS, crypto.SHA384, 0}, true
	case ps512:
		return algorithm{ps512, familyPSS, crypto.SHA512, 0}, true
	case rs256:
		return algorithm{rs256, familyPKCS1, crypto.SHA256, 0}, true
	case rs384:
		return algorithm{rs384, familyPKCS1, crypto.SHA384, 0}, true
	case rs512:
		return algorithm{rs512, familyPKCS1, crypto.SHA512, 0}, true

	// The message itself is signed, without a context (RFC 9964; FIPS 204 calls this "pure").
	case mldsa65:
		return algorithm{mldsa65, familyMLDSA, 0, mldsa.MLDSA65SignatureSize}, true
	}
	return algorithm{}, false
}

// checkAlgorithm returns an error if name is not the name of a valid key algorithm.
func checkAlgorithm(name string) error {
	if _, ok := algorithmOf(name); !ok && name != MLDSA44 {
		return fmt.Errorf("keys: unsupported algorithm %s: must be one of %q", quote(name), append(Algorithms(), MLDSA44))
	}
	return nil
}

// isEd25519Name reports whether name identifies Ed25519 in the alg of a key. The algorithm has
// three names: in RFC 8037, in RFC 9864, and in the receipt format.
func isEd25519Name(name string) bool {
	return name == edDSA || name == "Ed25519" || name == Ed25519
}

// jwkAlgorithm returns the name of an algorithm as it is spelled in the alg member of a JWK.
func jwkAlgorithm(name string) string {
	if name == Ed25519 {
		return "Ed25519" // RFC 9864
	}
	return name
}

// fits reports whether a key may be used to verify a signature. ours is the algorithm of the key,
// and theirs is the algorithm that the signature names.
func fits(ours, theirs string) bool {
	return ours == theirs || ours == Ed25519 && theirs == edDSA
}

// curveOf returns the curve that a JWK names in crv (RFC 7518 section 6.2.1.1), and the only
// algorithm for that curve.
func curveOf(crv string) (elliptic.Curve, string) {
	switch crv {
	case "P-256":
		return elliptic.P256(), es256
	case "P-384":
		return elliptic.P384(), es384
	case "P-521":
		return elliptic.P521(), es512
	}
	return nil, ""
}

// coordinate returns the length of a coordinate on the curve, in bytes.
func coordinate(c elliptic.Curve) int { return (c.Params().BitSize + 7) / 8 }
