package fixedbase

import (
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"filippo.io/edwards25519"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

var production = sync.OnceValue(NewBase)

// small returns a Base that can be built quickly, for tests with many keys.
var small = sync.OnceValue(func() *Base { return newBase(5, 4) })

func mustKey(tb testing.TB, base *Base, public []byte) *Key {
	tb.Helper()
	k, err := base.NewKey(public)
	if err != nil {
		tb.Fatalf("%x: %v", public, err)
	}
	return k
}

// agree checks a signature, compares the verdict with that of crypto/ed25519, and returns the
// verdict. A key for which no table can be created must not have any valid signatures.
func agree(tb testing.TB, base *Base, public, message, sig []byte) bool {
	tb.Helper()
	k, err := base.NewKey(public)
	if err == nil {
		return k.agrees(tb, message, sig)
	}
	if k != nil {
		tb.Errorf("%x: a key beside %v", public, err)
	}
	valid := ed25519.Verify(public, message, sig)
	if valid {
		tb.Errorf("%x: no tables of a key with signatures", public)
	}
	return valid
}

func (k *Key) agrees(tb testing.TB, message, sig []byte) bool {
	tb.Helper()
	want := ed25519.Verify(k.public[:], message, sig)
	if got := k.Verify(message, sig); got != want {
		tb.Errorf("key %x, message %x, signature %x: %v, crypto/ed25519 says %v", k.public, message, sig, got, want)
	}
	return want
}

// torsion returns j times a point of order 8.
func torsion(tb testing.TB, j int) *edwards25519.Point {
	tb.Helper()
	t, err := new(edwards25519.Point).SetBytes(unhex(tb, "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"))
	if err != nil {
		tb.Fatal(err)
	}
	sum := edwards25519.NewIdentityPoint()
	for range j {
		sum.Add(sum, t)
	}
	return sum
}

func plus(p, q *edwards25519.Point) *edwards25519.Point { return new(edwards25519.Point).Add(p, q) }

// forge returns a signature that is valid except for torsion: R is r times the base point plus
// shift, and S is r + k·a.
func forge(tb testing.TB, a, r *edwards25519.Scalar, public, message []byte, shift *edwards25519.Point) []byte {
	tb.Helper()
	return forgeOf(tb, a, r, public, message, plus(new(edwards25519.Point).ScalarBaseMult(r), shift).Bytes())
}

// forgeOf returns a signature that is valid except for R, which is used as encoded.
func forgeOf(tb testing.TB, a, r *edwards25519.Scalar, public, message, encoded []byte) []byte {
	tb.Helper()
	hash := sha512.Sum512(append(append(append([]byte{}, encoded...), public...), message...))
	k, err := new(edwards25519.Scalar).SetUniformBytes(hash[:])
	if err != nil {
		tb.Fatal(err)
	}
	return append(encoded, new(edwards25519.Scalar).MultiplyAdd(k, a, r).Bytes()...)
}

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func readVectors(tb testing.TB, folder, file string, into any) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(vectors.Dir(tb, folder), file))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
}
