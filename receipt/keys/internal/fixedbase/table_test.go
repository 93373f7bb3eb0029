package fixedbase

import (
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"filippo.io/edwards25519"
)

// order returns L, as defined in RFC 8032 section 5.1.
func order() *big.Int {
	l, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
	return l.Add(l, new(big.Int).Lsh(big.NewInt(1), 252))
}

// littleEndian returns the 32-byte little-endian encoding of a scalar.
func littleEndian(n *big.Int) []byte {
	b := n.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return b
}

func scalar(tb testing.TB, n *big.Int) *edwards25519.Scalar {
	tb.Helper()
	s, err := new(edwards25519.Scalar).SetCanonicalBytes(littleEndian(n))
	if err != nil {
		tb.Fatalf("%d: %v", n, err)
	}
	return s
}

// extremes returns numbers below L that cause the most carries or none. They are close to 0, L, or
// a power of two, or consist of ones, halves, or alternating bits in windows of each width.
func extremes() []*big.Int {
	l, one := order(), big.NewInt(1)
	list := []*big.Int{new(big.Int)}
	add := func(n *big.Int) {
		for d := int64(-2); d <= 2; d++ {
			m := new(big.Int).Add(n, big.NewInt(d))
			if m.Sign() >= 0 && m.Cmp(l) < 0 {
				list = append(list, m)
			}
		}
	}
	add(l)
	add(new(big.Int).Rsh(l, 1))
	for i := range uint(253) {
		power := new(big.Int).Lsh(one, i)
		add(power)
		add(new(big.Int).Sub(l, power))
	}
	for width := uint(2); width <= 13; width++ {
		for _, digit := range []int64{1, 1<<(width-1) - 1, 1 << (width - 1), 1<<(width-1) + 1, 1<<width - 1} {
			n := new(big.Int)
			for i := uint(0); i+width <= scalarBits; i += width {
				n.Or(n, new(big.Int).Lsh(big.NewInt(digit), i))
			}
			add(n)
			add(n.SetBit(n, 251, 1))
			add(n.SetBit(n, 251, 0))
		}
	}
	return list
}

func randomScalars(random *rand.Rand, n int) []*big.Int {
	list := make([]*big.Int, n)
	for i := range list {
		b := make([]byte, 40)
		for j := range b {
			b[j] = byte(random.Uint32())
		}
		list[i] = new(big.Int).SetBytes(b)
		list[i].Mod(list[i], order())
	}
	return list
}

// value returns the number that the terms from a table for P represent, as a multiple of P.
func (t *table) value(tb testing.TB, terms []term) *big.Int {
	tb.Helper()
	sum := new(big.Int)
	rows, last := shape(t.width)
	for _, at := range terms {
		index := int(max(at, -at)) - 1
		row := min(index>>(t.width-1), int(rows)-1)
		column := index - row<<(t.width-1)
		if limit := 1 << (t.width - 1); column < 0 || row < int(rows)-1 && column >= limit || row == int(rows)-1 && (column >= last || at < 0) {
			tb.Fatalf("width %d: the term %d is outside its row", t.width, at)
		}
		n := big.NewInt(int64(column) + 1)
		n.Lsh(n, uint(row)*t.width)
		if at < 0 {
			n.Neg(n)
		}
		sum.Add(sum, n)
	}
	return sum
}

// TestDigits verifies that the digits of a scalar represent the scalar, and that each digit has a
// point in the table.
func TestDigits(t *testing.T) {
	list := append(extremes(), randomScalars(rand.New(rand.NewPCG(1, 2)), 2000)...)
	if len(list) < 5000 {
		t.Fatalf("only %d scalars", len(list))
	}
	for width := uint(2); width <= 13; width++ {
		digits := table{width: width}
		terms := make([]term, 0, scalarBits)
		rows, _ := shape(width)
		for _, n := range list {
			terms = digits.appendTerms(terms[:0], littleEndian(n))
			if len(terms) > int(rows) {
				t.Fatalf("width %d: %d terms of %d", width, len(terms), n)
			}
			if got := digits.value(t, terms); got.Cmp(n) != 0 {
				t.Fatalf("width %d: the digits of %d are %d", width, n, got)
			}
		}
	}
}

// TestPoints verifies that each point is the multiple that its index specifies, computed in a
// different way.
func TestPoints(t *testing.T) {
	p := plus(edwards25519.NewGeneratorPoint(), torsion(t, 3))
	for _, width := range []uint{2, 3, 5, 7} {
		multiples := newTable(p, width)
		if len(multiples.points) != size(width) {
			t.Fatalf("width %d: %d points, expected %d", width, len(multiples.points), size(width))
		}
		for i := range multiples.points {
			n := multiples.value(t, []term{term(i + 1)})
			if want := new(edwards25519.Point).ScalarMult(scalar(t, n), p); n.Sign() <= 0 || multiples.points[i].Equal(want) != 1 {
				t.Fatalf("width %d: the point at %d is not %d times the first", width, i, n)
			}
		}
	}
}

// TestCombine verifies [s]B − [k]A, including the torsion of A, for numbers that no hash would
// produce.
func TestCombine(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	hard := extremes()
	for j := range 8 {
		a := plus(new(edwards25519.Point).ScalarBaseMult(scalar(t, randomScalars(random, 1)[0])), torsion(t, j))
		minus := new(edwards25519.Point).Negate(a)
		k := mustKey(t, production(), a.Bytes())
		for range 300 {
			s, c := hard[random.IntN(len(hard))], hard[random.IntN(len(hard))]
			got := k.combine(scalar(t, s), scalar(t, c))
			want := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(scalar(t, c), minus, scalar(t, s))
			if got.Equal(want) != 1 {
				t.Fatalf("[%d]B − [%d]A with a torsion component of %d is wrong", s, c, j)
			}
		}
	}
}

// TestSizes verifies the memory use stated in the documentation, and that a check needs only the
// space that is reserved for its points.
func TestSizes(t *testing.T) {
	if n := reflect.TypeFor[edwards25519.Point]().Size(); n != pointBytes {
		t.Errorf("a point takes %d bytes", n)
	}
	base := production()
	key := mustKey(t, base, base.points[0].Bytes())
	if n := cap(base.points) * pointBytes; n != BaseBytes {
		t.Errorf("a Base takes %d bytes, %d are documented", n, BaseBytes)
	}
	if n := cap(key.minus.points) * pointBytes; n != KeyBytes {
		t.Errorf("a Key takes %d bytes, %d are documented", n, KeyBytes)
	}
	ofBase, _ := shape(baseWidth)
	ofKey, _ := shape(keyWidth)
	if ofBase+ofKey != additions {
		t.Errorf("%d additions, %d are documented", ofBase+ofKey, additions)
	}
}
