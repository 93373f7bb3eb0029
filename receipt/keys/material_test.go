package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// TestNonCanonicalPoints verifies that every y from p to p+18, where p = 2^255−19, is rejected with
// either sign of x, because y is not reduced (RFC 8032 section 5.1.3). crypto/ed25519 accepts these
// encodings if they are points. The numbers below p are canonical.
func TestNonCanonicalPoints(t *testing.T) {
	encoding := func(low, high byte) []byte {
		key := make([]byte, 32)
		for i := range key {
			key[i] = 0xff
		}
		key[0], key[31] = low, high
		return key
	}
	for _, high := range []byte{0x7f, 0xff} {
		for low := 0xed + 2; low <= 0xff; low++ { // p and p+1 have low order
			_, err := FromPublic(ed25519.PublicKey(encoding(byte(low), high)), "k", "")
			wantRefused(t, err, receipt.CodeWeakKey, "canonical encoding")
		}
		good := 0
		for low := range 0xec { // p−1 has low order
			if _, err := FromPublic(ed25519.PublicKey(encoding(byte(low), high)), "k", ""); err == nil {
				good++
			} else {
				wantRefused(t, err, receipt.CodeWeakKey, "not a point")
			}
		}
		if good < 80 {
			t.Errorf("%d encodings below p are taken, expected about half of 236", good)
		}
		// A value that differs in one of the middle bytes is below p, and therefore canonical.
		for i := 1; i < 31; i++ {
			key := encoding(0xf0, high)
			key[i] = 0xfe
			if err := checkEd25519(key); err != nil && err.Code == receipt.CodeWeakKey && err.Detail != "x is not a point of the curve, so it can check no signature" {
				t.Errorf("byte %d: %v", i, err)
			}
		}
	}
}

// TestROCA verifies that a modulus is rejected if it is a power of 65537 modulo every small prime,
// as in CVE-2017-15361. A modulus that is not such a power modulo one of the primes must be
// accepted.
func TestROCA(t *testing.T) {
	primes := []int64{11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157}
	product := big.NewInt(1)
	for _, p := range primes {
		product.Mul(product, big.NewInt(p))
	}
	// k·product + 65537^e mod product, which is odd and has 2048 bits
	modulus := func(e, k int64) *big.Int {
		n := new(big.Int).Exp(big.NewInt(65537), big.NewInt(e), product)
		factor := new(big.Int).Lsh(big.NewInt(1), uint(2048-product.BitLen()))
		n.Add(n, factor.Add(factor, big.NewInt(k)).Mul(factor, product))
		if n.Bit(0) == 0 {
			n.Add(n, product)
		}
		return n
	}
	for _, e := range []int64{0, 1, 12345} {
		n := modulus(e, 1)
		if n.BitLen() != 2048 {
			t.Fatal(n.BitLen())
		}
		_, err := FromPublic(&rsa.PublicKey{N: n, E: 65537}, "k", ps256)
		wantRefused(t, err, receipt.CodeWeakKey, "CVE-2017-15361")
	}
	for _, p := range primes {
		powers := map[int64]bool{}
		for power := int64(1); !powers[power]; power = power * 65537 % p {
			powers[power] = true
		}
		other := int64(1)
		for powers[other] || other == 0 {
			other++
		}
		if other >= p { // 65537 generates all residues
			continue
		}
		// The modulus is a power of 65537 modulo all primes except p, because n + j·product/p has
		// another residue modulo p.
		step := new(big.Int).Quo(product, big.NewInt(p))
		n := modulus(7, 1)
		for new(big.Int).Mod(n, big.NewInt(p)).Int64() != other || n.Bit(0) == 0 {
			n.Add(n, step)
		}
		if _, err := FromPublic(&rsa.PublicKey{N: n, E: 65537}, "k", ps256); err != nil {
			t.Errorf("no power modulo %d: %v", p, err)
		}
	}
}

// TestForeignCurves verifies that other curves are rejected, including a curve that has only the
// name of P-256.
func TestForeignCurves(t *testing.T) {
	good := testKeys()[es256].key.Public().(*ecdsa.PublicKey)
	for name, curve := range map[string]elliptic.Curve{"P-224": elliptic.P224(), "a name": elliptic.P256().Params()} {
		foreign := *good
		foreign.Curve = curve
		_, err := FromPublic(&foreign, "k", "")
		if err == nil {
			t.Fatalf("%s is accepted", name)
		}
		wantRefused(t, err, receipt.CodeInvalidKeySet, "expected P-256, P-384 or P-521")
	}
}

// TestIncompleteKeys verifies that a public key that lacks a part, or whose point is not on its
// curve, is rejected and causes no panic.
func TestIncompleteKeys(t *testing.T) {
	x, y := big.NewInt(1), big.NewInt(2)
	point := func(curve elliptic.Curve, x, y *big.Int) *ecdsa.PublicKey {
		//lint:ignore SA1019 a caller can set the coordinates
		return &ecdsa.PublicKey{Curve: curve, X: x, Y: y}
	}
	for _, tc := range []struct {
		pub  crypto.PublicKey
		code receipt.Code
		part string
	}{
		{(*ecdsa.PublicKey)(nil), receipt.CodeInvalidKeySet, "without a curve or a point"},
		{point(nil, x, y), receipt.CodeInvalidKeySet, "without a curve or a point"},
		{point(elliptic.P256(), nil, y), receipt.CodeInvalidKeySet, "without a curve or a point"},
		{point(elliptic.P256(), x, nil), receipt.CodeInvalidKeySet, "without a curve or a point"},
		{point(elliptic.P256(), x, y), receipt.CodeWeakKey, "not a point of its curve"},
		{(*rsa.PublicKey)(nil), receipt.CodeInvalidKeySet, "without a modulus"},
		{&rsa.PublicKey{E: 65537}, receipt.CodeInvalidKeySet, "without a modulus"},
	} {
		_, err := FromPublic(tc.pub, "k", rs256)
		wantRefused(t, err, tc.code, tc.part)
	}
}

// TestNoDefaultID verifies that a value that is not a key has no default ID.
func TestNoDefaultID(t *testing.T) {
	digest := sha256.Sum256(nil)
	for _, pub := range []crypto.PublicKey{nil, digest, ed25519.PublicKey(nil), &rsa.PublicKey{}} {
		if id, err := nameOf(pub, ""); id != "" || err == nil {
			t.Errorf("%T: %q, %v", pub, id, err)
		}
	}
}
