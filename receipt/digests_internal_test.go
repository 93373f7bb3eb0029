package receipt

import (
	"math/rand/v2"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
)

// TestDigests verifies that hashing two strings of any length in alternation returns the same
// digests as hashing them separately, and that previously hashed strings have no effect.
func TestDigests(t *testing.T) {
	d, rng := newDigests(), rand.New(rand.NewPCG(8785, 1))
	text := make([]byte, 20*turn)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	for n := range 4*turn + 2 {
		for _, m := range []int{n, 0, 1, turn - 1, turn, turn + 1, rng.IntN(len(text))} {
			a, b := text[:n], text[len(text)-m:]
			if ofA, ofB := d.of(a, b); ofA != canon.Sum(a) || ofB != canon.Sum(b) {
				t.Fatalf("%d and %d bytes: %s and %s", n, m, ofA, ofB)
			}
			if ofB, ofA := d.of(b, a); ofA != canon.Sum(a) || ofB != canon.Sum(b) {
				t.Fatalf("%d and %d bytes: %s and %s", m, n, ofB, ofA)
			}
		}
	}
}
