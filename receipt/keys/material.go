package keys

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"filippo.io/edwards25519"
	"filippo.io/mldsa"
	"filippo.io/mldsa/x509"

	"github.com/receiptkit/receiptkit/canon"
)

// These are the limits on the size of RSA keys. Keys that are smaller can be factored. Checking
// signatures with larger keys takes too long.
const (
	minModulus = 2048 // bits
	maxModulus = 8192
)

// A material is a public key that has been checked: an ed25519.PublicKey, an *ecdsa.PublicKey, an
// *rsa.PublicKey, or a *mldsa.PublicKey.
type material = crypto.PublicKey

// parseMaterial returns the public key in a JWK. It also returns the algorithm that the type of the
// key implies, or "" for RSA.
func parseMaterial(key canon.Node) (material, string, *SetError) {
	kty := key.Member("kty")
	switch {
	case kty.Kind() != canon.KindString:
		return nil, "", invalid("/kty", "expected kty, the key type, as a string")
	case kty.String() == "OKP":
		m, err := parseEd25519(key)
		return m, Ed25519, err
	case kty.String() == "EC":
		return parseECDSA(key)
	case kty.String() == "RSA":
		m, err := parseRSA(key)
		return m, "", err
	case kty.String() == "AKP":
		return parseMLDSA(key)
	case kty.String() == "oct":
		return nil, "", invalid("/kty", "kty is \"oct\", a symmetric key; everyone who can check with it can also sign, so it proves nothing")
	}

	return nil, "", invalid("/kty", "kty is %s, expected OKP, EC, RSA or AKP", quote(kty.Text()))
}

// parseEd25519 parses the members that are defined in RFC 8037 section 2.
func parseEd25519(key canon.Node) (material, *SetError) {
	if crv := key.Member("crv"); crv.String() != "Ed25519" {
		return nil, invalid("/crv", "crv is %s, expected Ed25519, the only curve of an OKP key that receipts use", quote(crv.Text()))
	}
	x, err := octets(key, "x", ed25519.PublicKeySize)
	if err != nil {
		return nil, err
	}
	if err := checkEd25519(x); err != nil {
		return nil, err
	}
	return ed25519.PublicKey(x), nil
}

// checkEd25519 rejects encodings of keys with which a signature proves nothing or on which
// verifiers disagree. These are the 14 encodings of points with low order, all encodings whose y is
// not reduced modulo p = 2^255−19 (RFC 8032 section 5.1.3), and encodings of no point. Other points
// with a component of low order cannot be recognized by their bytes. crypto/ed25519 treats them in
// the same way as ref10.
func checkEd25519(key []byte) *SetError {
	y := bytes.Clone(key)
	y[31] &= 0x7f // sign bit of x; each y in the list has two encodings
	switch hex.EncodeToString(y) {
	case "0000000000000000000000000000000000000000000000000000000000000000", // order 4
		"0100000000000000000000000000000000000000000000000000000000000000", // order 1
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", // order 8
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", // order 8
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // p−1: order 2
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // p: order 4
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f": // p+1: order 1
		return weak("/x", "x is a point of low order, under which anyone can sign")
	}

	// In step 1 of RFC 8032 section 5.1.3, y must be less than p. In steps 2 to 4 of RFC 8032
	// section 5.1.3, there must be an x for y.
	if y[0] >= 0xed && y[31] == 0x7f && bytes.Count(y[1:31], []byte{0xff}) == 30 {
		return weak("/x", "x is not the canonical encoding of its point (RFC 8032 section 5.1.3)")
	}
	if !isPoint(key) {
		return weak("/x", "x is not a point of the curve, so it can check no signature")
	}

	return nil
}

// isPoint reports whether there is an x for the y in key (RFC 8032 section 5.1.3).
func isPoint(key []byte) bool {
	_, err := new(edwards25519.Point).SetBytes(key)
	return err == nil
}

// parseECDSA parses the members that are defined in RFC 7518 section 6.2.1.
func parseECDSA(key canon.Node) (material, string, *SetError) {
	crv := key.Member("crv")
	curve, alg := curveOf(crv.String())
	if curve == nil {
		return nil, "", invalid("/crv", "crv is %s, expected P-256, P-384 or P-521", quote(crv.Text()))
	}

	// Each value has the full length of a coordinate (RFC 7518 sections 6.2.1.2 and 6.2.1.3).
	x, err := octets(key, "x", coordinate(curve))
	if err != nil {
		return nil, "", err
	}
	y, err := octets(key, "y", coordinate(curve))
	if err != nil {
		return nil, "", err
	}

	// The byte 4 indicates that both coordinates follow.
	pub, bad := ecdsa.ParseUncompressedPublicKey(curve, append(append([]byte{4}, x...), y...))
	if bad != nil {
		return nil, "", weak("/x", "x and y are not a point of the curve %s", crv.String())
	}

	return pub, alg, nil
}

// parseMLDSA parses the members that are defined in RFC 9964 section 3. alg is required, because it
// selects the parameters.
func parseMLDSA(key canon.Node) (material, string, *SetError) {
	alg := key.Member("alg").String()
	parameters, ok := parametersOf(alg)
	if !ok {
		return nil, "", invalid("/alg", "alg is %s, expected ML-DSA-65 or, for checkpoints, ML-DSA-44", quote(alg))
	}
	encoded, err := octets(key, "pub", parameters.PublicKeySize())
	if err != nil {
		return nil, "", err
	}
	pub, bad := mldsa.NewPublicKey(parameters, encoded)
	if bad != nil {
		return nil, "", weak("/pub", "pub is not a public key for %s", alg)
	}
	return pub, alg, nil
}

func parametersOf(algorithm string) (mldsa.Parameters, bool) {
	switch algorithm {
	case MLDSA44:
		return mldsa.MLDSA44(), true
	case mldsa65:
		return mldsa.MLDSA65(), true
	}
	return mldsa.Parameters{}, false
}

// parseRSA parses the members that are defined in RFC 7518 section 6.3.1.
func parseRSA(key canon.Node) (material, *SetError) {
	n, err := integer(key, "n")
	if err != nil {
		return nil, err
	}
	e, err := integer(key, "e")
	if err != nil {
		return nil, err
	}
	pub, err := newRSA(new(big.Int).SetBytes(n), new(big.Int).SetBytes(e))
	if err != nil {
		return nil, err
	}
	return pub, nil
}

func newRSA(n, e *big.Int) (*rsa.PublicKey, *SetError) {
	switch bits := n.BitLen(); {
	case bits < minModulus:
		return nil, weak("/n", "the RSA modulus has %d bits, at least %d are needed", bits, minModulus)
	case bits > maxModulus:
		return nil, weak("/n", "the RSA modulus has %d bits, at most %d are read", bits, maxModulus)
	case n.Bit(0) == 0:
		return nil, weak("/n", "the RSA modulus is even")
	case e.BitLen() > 31:
		return nil, weak("/e", "the RSA exponent is above 2^31−1")
	case e.Bit(0) == 0, e.Int64() <= 3:
		return nil, weak("/e", "the RSA exponent is %d, expected an odd number above 3, such as 65537", e.Int64())
	case isROCA(n):
		return nil, weak("/n", "the RSA modulus was made by a faulty library and can be factored (CVE-2017-15361)")
	}
	return &rsa.PublicKey{N: n, E: int(e.Int64())}, nil
}

// isROCA recognizes the RSA moduli described in CVE-2017-15361. Modulo every small prime, their
// prime factors are powers of 65537. The published test therefore checks whether n is a power of
// 65537 modulo each small prime. About one in 2^27 other moduli also passes this test.
func isROCA(n *big.Int) bool {
	for _, prime := range []int64{11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157} {
		want := new(big.Int).Mod(n, big.NewInt(prime)).Int64()
		power, found := int64(1), false
		for range prime {
			found = found || power == want
			power = power * 65537 % prime
		}
		if !found {
			return false
		}
	}
	return true
}

// checkMaterial checks a key that was not parsed from a JWK, and returns a copy of it.
func checkMaterial(pub crypto.PublicKey) (material, string, *SetError) {
	switch pub := pub.(type) {
	case ed25519.PublicKey:
		if len(pub) != ed25519.PublicKeySize {
			return nil, "", invalid("", "an Ed25519 public key has %d bytes, found %d", ed25519.PublicKeySize, len(pub))
		}
		if err := checkEd25519(pub); err != nil {
			return nil, "", err
		}
		return ed25519.PublicKey(bytes.Clone(pub)), Ed25519, nil
	case *ecdsa.PublicKey:
		//lint:ignore SA1019 Bytes would panic without coordinates
		if pub == nil || pub.Curve == nil || pub.X == nil || pub.Y == nil {
			return nil, "", invalid("", "an ECDSA public key without a curve or a point")
		}
		curve, alg := curveOf(pub.Curve.Params().Name)
		if curve == nil || curve != pub.Curve {
			return nil, "", invalid("", "the ECDSA curve is %s, expected P-256, P-384 or P-521", quote(pub.Curve.Params().Name))
		}

		// Encode and decode the key, which checks the point and makes a copy.
		point, _ := pub.Bytes() // nil if the key is not a point
		clone, err := ecdsa.ParseUncompressedPublicKey(curve, point)
		if err != nil {
			return nil, "", weak("", "the ECDSA public key is not a point of its curve")
		}
		return clone, alg, nil
	case *rsa.PublicKey:
		if pub == nil || pub.N == nil {
			return nil, "", invalid("", "an RSA public key without a modulus")
		}
		clone, err := newRSA(new(big.Int).Set(pub.N), big.NewInt(int64(pub.E)))
		return clone, "", err
	case *mldsa.PublicKey: // cannot be modified
		name := pub.Parameters().String()
		if _, ok := parametersOf(name); !ok {
			return nil, "", invalid("", "a key for %s, expected ML-DSA-65 or, for checkpoints, ML-DSA-44", quote(name))
		}
		return pub, name, nil
	}
	return nil, "", invalid("", "a key of type %T, expected Ed25519, ECDSA, RSA or ML-DSA", pub)
}

// jwkMembers returns the members of a JWK that contain the public key. The first is kty.
func jwkMembers(m material) []member {
	switch pub := m.(type) {
	case ed25519.PublicKey:
		return []member{text("kty", "OKP"), text("crv", "Ed25519"), text("x", encodeURL(pub))}
	case *ecdsa.PublicKey:
		point, err := pub.Bytes()
		if err != nil { // cannot happen, because the key was checked to be a point
			return nil
		}
		size := coordinate(pub.Curve)
		return []member{text("kty", "EC"), text("crv", pub.Curve.Params().Name),
			text("x", encodeURL(point[1:1+size])), text("y", encodeURL(point[1+size:]))}
	case *rsa.PublicKey:
		return []member{text("kty", "RSA"), text("n", encodeURL(pub.N.Bytes())), text("e", encodeURL(big.NewInt(int64(pub.E)).Bytes()))}
	case *mldsa.PublicKey:
		return []member{text("kty", "AKP"), text("alg", pub.Parameters().String()), text("pub", encodeURL(pub.Bytes()))}
	}
	return nil
}

// thumbprint returns the hash of the required members, sorted by name (RFC 7638 section 3). For an
// AKP key, alg is a required member, too (RFC 9964 section 6).
func thumbprint(m material) [32]byte {
	return sha256.Sum256(appendObject(nil, sorted(jwkMembers(m))))
}

// defaultID returns an ID that is derived from the key material.
func defaultID(m material, algorithm string) string {
	data, prefix := []byte(nil), strings.ToLower(algorithm)
	if raw, ok := m.(ed25519.PublicKey); ok {
		data, prefix = raw, Ed25519
	} else if der, err := x509.MarshalPKIXPublicKey(m); err == nil { // all of these types can be marshaled
		data = der
	}
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%s:%x", prefix, sum[:16])
}
