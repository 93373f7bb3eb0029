package fixedbase

import (
	"bytes"
	"crypto/ed25519"
	"math/big"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"filippo.io/edwards25519"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMany verifies that the results match those of crypto/ed25519, with CI=all a million
// times. The keys may have a low-order component, and the
// signatures are intact or damaged in many ways.
func TestMany(t *testing.T) {
	n := testsize.Of(2_000, 100_000, 1_000_000)
	signers := someSigners(t, production())
	workers := runtime.GOMAXPROCS(0)
	valid := make([]int, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(w)))
			for i := w; i < n && !t.Failed(); i += workers {
				c := damage(signers, random)
				if c.key.agrees(t, c.message, c.sig) {
					valid[w]++
				}
			}
		})
	}
	group.Wait()
	sum := 0
	for _, v := range valid {
		sum += v
	}
	if sum < n/20 || sum > n/3 {
		t.Errorf("%d of %d are valid, too few or too many to tell anything", sum, n)
	}
	t.Logf("%d of %d are valid", sum, n)
}

// A signed value is a signed message from which a test case is derived.
type signed struct {
	key     *Key
	message []byte
	sig     []byte
}

// someSigners returns a few valid signatures for each of several keys.
func someSigners(tb testing.TB, base *Base) (list []signed) {
	tb.Helper()
	random := rand.New(rand.NewPCG(9, 10))
	for i := range 12 {
		a := scalar(tb, randomScalars(random, 1)[0])
		component := max(0, i-5) // the first keys have no low-order component, like regular keys
		key := mustKey(tb, base, plus(new(edwards25519.Point).ScalarBaseMult(a), torsion(tb, component)).Bytes())
		for found := 0; found < 32; {
			message := randomBytes(random, random.IntN(200))
			r := scalar(tb, randomScalars(random, 1)[0])
			for shift := range 8 {
				sig := forge(tb, a, r, key.public[:], message, torsion(tb, shift))
				if ed25519.Verify(key.public[:], message, sig) {
					list = append(list, signed{key, message, sig})
					found++
				}
			}
		}
	}
	return list
}

// damage copies a signed message and changes it in one of many ways, or not at all.
func damage(list []signed, random *rand.Rand) signed {
	from, other := list[random.IntN(len(list))], list[random.IntN(len(list))]
	c := signed{from.key, bytes.Clone(from.message), bytes.Clone(from.sig)}
	flip := func(b []byte) {
		if len(b) > 0 {
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		}
	}
	r, s := c.sig[:32], c.sig[32:]
	switch random.IntN(16) {
	case 0, 1: // intact
	case 2:
		flip(r)
	case 3:
		flip(s)
	case 4:
		flip(c.message)
	case 5:
		c.key = other.key
	case 6:
		c.message = other.message
	case 7:
		copy(r, other.sig)
	case 8:
		copy(s, other.sig[32:])
	case 9:
		r[31] ^= 0x80
	case 10: // not reduced
		n := new(big.Int).SetBytes(reversed(s))
		copy(s, littleEndian(n.Add(n, order())))
	case 11: // −S
		n := new(big.Int).SetBytes(reversed(s))
		copy(s, littleEndian(n.Sub(order(), n).Mod(n, order())))
	case 12:
		copy(s, randomBytes(random, 32))
		s[31] &= 0x1f
	case 13:
		copy(r, randomBytes(random, 32))
	case 14: // longer or shorter
		c.sig = append(c.sig, c.sig...)[:random.IntN(129)]
	case 15: // each half has a valid value
		copy(s, make([]byte, 32))
		copy(r, edwards25519.NewIdentityPoint().Bytes())
	}
	return c
}

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}
