package keys

import (
	"crypto/ed25519"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt"
)

type ed25519Vector struct {
	Number        int
	Key, Sig, Msg string
	Flags         []string
}

// judge runs a vector through a trust file and compares the result with the result from
// crypto/ed25519. Either the key must be weak, or the verdicts must be the same.
func judge(t *testing.T, number int, key string, message []byte, sig string) (verdict string) {
	t.Helper()
	accepted := ed25519.Verify(unhex(t, key), message, unhex(t, sig))
	set, err := ParseSet(setJSON(t, ed25519JWK(t, "k", key)))
	if err != nil {
		wantRefused(t, err, receipt.CodeWeakKey, "x is ")
		if accepted {
			return "weak, else valid"
		}
		return "weak"
	}
	code := codeOf(set, message, entry("k", Ed25519, native(unhex(t, sig))))
	if accepted != (code == "") {
		t.Errorf("%d: %q, but crypto/ed25519 returns %v", number, code, accepted)
	}
	if code == "" {
		return "valid"
	}
	return string(code)
}

// TestCCTV verifies that a signature is accepted if and only if crypto/ed25519 accepts it, except
// for keys that are rejected when they are parsed (reliability #124).
func TestCCTV(t *testing.T) {
	var list []ed25519Vector
	readVectors(t, "sig-cctv-ed25519", "ed25519vectors.json", &list)
	if len(list) != 914 {
		t.Fatalf("%d vectors, expected 914", len(list))
	}
	count := map[string]int{}
	for _, v := range list {
		verdict := judge(t, v.Number, v.Key, []byte(v.Msg), v.Sig)
		count[verdict]++
		if low := slices.Contains(v.Flags, "low_order_A") || slices.Contains(v.Flags, "non_canonical_A"); low != strings.HasPrefix(verdict, "weak") {
			t.Errorf("%d %v: %s", v.Number, v.Flags, verdict)
		}
	}
	if want := map[string]int{"valid": 86, "signature_invalid": 302, "weak": 404, "weak, else valid": 122}; !maps.Equal(count, want) {
		t.Errorf("got %v, want %v", count, want)
	}
}

// TestSpeccheck verifies the vectors from speccheck. The keys in vectors 0, 1, and 11 have low
// order, and the keys in vectors 10 and 11 are not canonical. In vectors 6 and 7, S is not below
// the group order (#127). Vectors 4 and 5 are valid only with the cofactor.
func TestSpeccheck(t *testing.T) {
	var list []struct {
		PubKey             string `json:"pub_key"`
		Message, Signature string
	}
	readVectors(t, "sig-ed25519-speccheck", "cases.json", &list)
	const lost, no = "weak, else valid", "signature_invalid"
	want := []string{lost, lost, "valid", "valid", no, no, no, no, no, no, "weak", lost}
	if len(list) != len(want) {
		t.Fatalf("%d cases, expected %d", len(list), len(want))
	}
	for i, v := range list {
		if got := judge(t, i, v.PubKey, unhex(t, v.Message), v.Signature); got != want[i] {
			t.Errorf("case %d: %s, want %s", i, got, want[i])
		}
	}
}

// TestWeakEd25519Keys verifies that the keys listed in the CCTV README are rejected, and that the
// other values of y from p to 2^255−1 are rejected with both signs (reliability #125, #126).
func TestWeakEd25519Keys(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(vectors.Dir(t, "sig-cctv-ed25519"), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	low := 0
	for line := range strings.Lines(string(readme)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || len(fields[0]) != 64 {
			continue
		}
		low++
		_, err := ParseSet(setJSON(t, ed25519JWK(t, "k", fields[0])))
		wantRefused(t, err, receipt.CodeWeakKey, "low order")
	}
	if low != 14 {
		t.Errorf("the README lists %d encodings, expected 14", low)
	}
	high := strings.Repeat("ff", 30)
	for first := 0xed; first <= 0xff; first++ {
		for _, last := range []string{"7f", "ff"} {
			key := unhex(t, "00"+high+last)
			key[0] = byte(first)
			if err := checkEd25519(key); err == nil || err.Code != receipt.CodeWeakKey {
				t.Errorf("%x: %v", key, err)
			}
		}
	}
	// Every key that crypto/ed25519 generates must be a point.
	for i := range 200 {
		seed := make([]byte, 32)
		seed[0] = byte(i)
		if err := checkEd25519(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)); err != nil {
			t.Errorf("seed %d: %v", i, err)
		}
	}
}

// TestEd25519Points verifies that isPoint matches an oracle: an encoding is a point if x² =
// (y²−1)/(dy²+1) has a root modulo p (RFC 8032 section 5.1.3).
func TestEd25519Points(t *testing.T) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	d := new(big.Int).ModInverse(big.NewInt(121666), p)
	d.Mul(d, big.NewInt(-121665)).Mod(d, p)
	points := 0
	for y := int64(2); y < 1000; y++ {
		square := big.NewInt(y * y)
		below := new(big.Int).Mul(d, square)
		below.Add(below, big.NewInt(1)).Mod(below, p)
		xx := square.Sub(square, big.NewInt(1))
		xx.Mul(xx, below.ModInverse(below, p)).Mod(xx, p)
		key := make([]byte, 32)
		key[0], key[1] = byte(y), byte(y>>8)
		want := big.Jacobi(xx, p) == 1
		if want {
			points++
		}
		if got := isPoint(key); got != want {
			t.Errorf("y = %d: %v, want %v", y, got, want)
		}
	}
	if points < 400 || points > 600 {
		t.Errorf("%d of 998 are points; about half are", points)
	}
}
