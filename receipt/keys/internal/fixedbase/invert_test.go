package fixedbase

import (
	"math/rand/v2"
	"testing"

	"filippo.io/edwards25519/field"
)

// elements returns small and large elements, powers of two, and random ones.
func elements(tb testing.TB) (list []*field.Element) {
	tb.Helper()
	one := new(field.Element).One()
	x := new(field.Element).One()
	for range 600 {
		minus := new(field.Element).Negate(x)
		list = append(list, new(field.Element).Set(x), minus, new(field.Element).Add(x, one), new(field.Element).Subtract(minus, one))
		x.Add(x, x)
	}
	random := rand.New(rand.NewPCG(11, 12))
	for range 10_000 {
		e, err := new(field.Element).SetBytes(randomBytes(random, 32))
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// TestInvert verifies that the inverses are those of package field, and that the steps find them.
func TestInvert(t *testing.T) {
	for _, z := range elements(t) {
		if z.Equal(new(field.Element)) == 1 {
			continue
		}
		want := new(field.Element).Invert(z)
		if got := quotient(z); want.Equal(&got) != 1 {
			t.Fatalf("1/%x = %x, want %x", z.Bytes(), got.Bytes(), want.Bytes())
		}
	}
}

// TestInvertZero verifies that zero, which has no inverse, is left to package field.
func TestInvertZero(t *testing.T) {
	if got := invert(new(field.Element)); got.Equal(new(field.Element)) != 1 {
		t.Errorf("1/0 = %x", got.Bytes())
	}
}

func BenchmarkInvert(b *testing.B) {
	for _, z := range elements(b)[:1] {
		z.Subtract(z, new(field.Element).Mult32(z, 1<<31))
		b.Run("steps", func(b *testing.B) {
			for b.Loop() {
				invert(z)
			}
		})
		b.Run("field", func(b *testing.B) {
			for b.Loop() {
				new(field.Element).Invert(z)
			}
		})
	}
}
