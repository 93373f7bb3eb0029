package fixedbase

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"errors"

	"filippo.io/edwards25519"
)

// These are the widths of the windows, in bits. With wider windows, fewer additions are necessary,
// but more memory is used, and access to it is slower. With 8 keys used in turn, widths of 12 and
// 10 bits are 5% faster but take almost twice the memory.
const (
	baseWidth = 11
	keyWidth  = 9
)

// These are the sizes of the tables, in bytes.
const (
	BaseBytes = 22<<10*pointBytes + 1<<10*pointBytes // of a [Base]
	KeyBytes  = 27<<8*pointBytes + 1<<9*pointBytes   // of a [Key]

	pointBytes = 160
	additions  = 23 + 28 // rows in both tables, which is the maximum number of additions in a check
)

// A Base contains multiples of the base point, which all keys share. It is immutable and safe for
// concurrent use.
type Base struct {
	table
	keyWidth uint
}

// NewBase computes the multiples of the base point. This takes as long as about 100 checks with
// crypto/ed25519.
func NewBase() *Base { return newBase(baseWidth, keyWidth) }

func newBase(width, keyWidth uint) *Base {
	return &Base{newTable(edwards25519.NewGeneratorPoint(), width), keyWidth}
}

// A Key contains multiples of a public key. It is immutable and safe for concurrent use.
type Key struct {
	base   *Base
	minus  table                       // of −A
	public [ed25519.PublicKeySize]byte // A exactly as given, even if it is not canonical
}

// NewKey computes the multiples of a public key. This takes as long as about 30 checks with
// crypto/ed25519. It returns an error if the key is not 32 bytes that encode a point.
// crypto/ed25519 accepts no signature with such a key, either.
func (b *Base) NewKey(public []byte) (*Key, error) {
	a, err := new(edwards25519.Point).SetBytes(public)
	if err != nil {
		return nil, errors.New("fixedbase: invalid encoding of a point")
	}
	k := &Key{base: b, minus: newTable(a.Negate(a), b.keyWidth)}
	copy(k.public[:], public)
	return k, nil
}

// Verify returns the same result as [ed25519.Verify] for the key, the message, and sig.
func (k *Key) Verify(message, sig []byte) bool {
	if len(sig) != ed25519.SignatureSize {
		return false
	}

	// In step 1 of RFC 8032 section 5.1.7, S must be less than L. R remains encoded.
	s, err := new(edwards25519.Scalar).SetCanonicalBytes(sig[32:])
	if err != nil {
		return false
	}

	// Step 2.
	hash := k.hash(sig[:32], message)
	c, err := new(edwards25519.Scalar).SetUniformBytes(hash[:])
	if err != nil { // cannot happen, because the hash has 64 bytes
		return false
	}

	// This is step 3 of RFC 8032 section 5.1.7, solved for R. It compares bytes.
	r := k.combine(s, c)
	return bytes.Equal(r.Bytes(), sig[:32])
}

// hash returns the hash that k is computed from (RFC 8032 section 5.1.7, step 2).
func (k *Key) hash(r, message []byte) (sum [sha512.Size]byte) {
	h := sha512.New()
	h.Write(r)
	h.Write(k.public[:])
	h.Write(message)
	h.Sum(sum[:0])
	return sum
}

// combine returns [s]B − [c]A. It first copies the points that it needs, so that they are next to
// each other in memory. This costs little. Otherwise, each addition would have to wait for memory.
// A processor can look ahead across many copies and load the data for all of them at the same time,
// but it cannot look ahead past an addition, which is too long.
func (k *Key) combine(s, c *edwards25519.Scalar) edwards25519.Point {
	var places [additions]term
	ofBase := k.base.appendTerms(places[:0], s.Bytes())
	terms := k.minus.appendTerms(ofBase, c.Bytes())

	// Make all copies before the first addition.
	var copies [additions]edwards25519.Point
	points := k.base.appendPoints(copies[:0], ofBase)
	points = k.minus.appendPoints(points, terms[len(ofBase):])

	sum := edwards25519.NewIdentityPoint()
	for i := range points {
		if terms[i] < 0 {
			sum.Subtract(sum, &points[i])
		} else {
			sum.Add(sum, &points[i])
		}
	}

	return *sum
}
