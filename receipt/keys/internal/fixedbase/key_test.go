package fixedbase

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"filippo.io/edwards25519"
)

// TestMixedOrder verifies that, for a key with a component of low order, the validity of a
// signature depends on k modulo 8, as in crypto/ed25519.
func TestMixedOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for component := range 8 {
		a := scalar(t, randomScalars(random, 1)[0])
		k := mustKey(t, small(), plus(new(edwards25519.Point).ScalarBaseMult(a), torsion(t, component)).Bytes())
		valid := 0
		for i := range 24 {
			r := scalar(t, randomScalars(random, 1)[0])
			message := fmt.Appendf(nil, "message %d", i)
			for shift := range 8 {
				if k.agrees(t, message, forge(t, a, r, k.public[:], message, torsion(t, shift))) {
					valid++
				}
			}
		}
		if valid == 0 || valid > 80 {
			t.Errorf("component %d: %d of 192 are valid, about 24 should be", component, valid)
		}
	}
}

// TestEachBitOfR verifies that every bit of R is compared. A signature whose R differs in one bit
// must be invalid, even if S was computed for that R with the private key.
func TestEachBitOfR(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	list := randomScalars(random, 2)
	a, r, message := scalar(t, list[0]), scalar(t, list[1]), []byte("message")
	k := mustKey(t, small(), new(edwards25519.Point).ScalarBaseMult(a).Bytes())
	encoded := new(edwards25519.Point).ScalarBaseMult(r).Bytes()
	if !k.agrees(t, message, forgeOf(t, a, r, k.public[:], message, encoded)) {
		t.Fatal("made as a signature is, and none")
	}
	for bit := range 8 * len(encoded) {
		other := bytes.Clone(encoded)
		other[bit/8] ^= 1 << (bit % 8)
		if k.agrees(t, message, forgeOf(t, a, r, k.public[:], message, other)) {
			t.Errorf("bit %d of R is not compared", bit)
		}
	}
}

// TestLowOrder verifies that the results match crypto/ed25519 for keys of low order. With these
// keys, S can be any number, including the limits of its range, and the probability that R = [S]B
// is valid is eight times as high.
func TestLowOrder(t *testing.T) {
	message := []byte("message")
	for component := range 8 {
		k := mustKey(t, production(), torsion(t, component).Bytes())
		valid := 0
		for i, n := range extremes() {
			if i%8 != component && i > 16 {
				continue
			}
			s := scalar(t, n)
			sig := append(new(edwards25519.Point).ScalarBaseMult(s).Bytes(), s.Bytes()...)
			if k.agrees(t, message, sig) {
				valid++
			}
		}
		if valid < 50 {
			t.Errorf("component %d: only %d are valid", component, valid)
		}
	}
}

// TestBounds verifies that S is rejected from L on, that signatures of other lengths are rejected,
// and that an encoding of R is rejected if it decodes to the correct point but differs from the
// computed encoding.
func TestBounds(t *testing.T) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public, message := private.Public().(ed25519.PublicKey), []byte("message")
	sig := ed25519.Sign(private, message)
	if !agree(t, small(), public, message, sig) {
		t.Fatal("the signature is not valid")
	}
	refused := func(name string, public, sig []byte) {
		t.Helper()
		if agree(t, small(), public, message, sig) {
			t.Errorf("%s: valid", name)
		}
	}
	for n := range 129 {
		if n != ed25519.SignatureSize {
			refused(fmt.Sprint(n, " bytes"), public, append(bytes.Clone(sig), sig...)[:n])
		}
	}
	high := new(big.Int).SetBytes(reversed(sig[32:]))
	for high.Add(high, order()); high.BitLen() <= 256; high.Add(high, order()) {
		refused("S not reduced", public, append(bytes.Clone(sig[:32]), littleEndian(high)...))
	}
	for _, s := range []*big.Int{new(big.Int), big.NewInt(1), order(), new(big.Int).Sub(order(), big.NewInt(1))} {
		refused(fmt.Sprint("S = ", s), public, append(bytes.Clone(sig[:32]), littleEndian(s)...))
	}
	for j := range 8 {
		refused("R of low order", public, append(torsion(t, j).Bytes(), sig[32:]...))
	}

	// With the identity as the key, the equation is R = [S]B, and S = 0 makes R the identity.
	identity, zero := edwards25519.NewIdentityPoint().Bytes(), make([]byte, 32)
	if !agree(t, small(), identity, message, append(bytes.Clone(identity), zero...)) {
		t.Error("the identity is not valid")
	}
	for _, encoding := range []string{
		"0100000000000000000000000000000000000000000000000000000000000080", // its x is encoded as −0
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // its y is encoded as p+1
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	} {
		other := unhex(t, encoding)
		refused("R not canonical", identity, append(bytes.Clone(other), zero...))
		if !agree(t, small(), other, message, append(bytes.Clone(identity), zero...)) { // the key is hashed as encoded, however
			t.Errorf("key %s: not valid", encoding)
		}
	}
	if _, err := small().NewKey(public[:31]); err == nil {
		t.Error("a key of 31 bytes")
	}
}

func reversed(b []byte) []byte {
	r := make([]byte, len(b))
	for i, x := range b {
		r[len(b)-1-i] = x
	}
	return r
}

func TestAllocations(t *testing.T) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	message := make([]byte, 71)
	sig := ed25519.Sign(private, message)
	k := mustKey(t, production(), private.Public().(ed25519.PublicKey))
	valid := true
	if n := testing.AllocsPerRun(100, func() { valid = valid && k.Verify(message, sig) }); n != 0 || !valid {
		t.Errorf("%v allocations, valid %v", n, valid)
	}
}
