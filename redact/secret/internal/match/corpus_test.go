package match_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/secrets"
	"github.com/receiptkit/receiptkit/redact/secret/internal/match"
)

// TestCorpusIsNaive verifies that scanning concatenated, truncated, and joined strings from the
// corpus gives the same result as searching the entire string with every regular expression.
func TestCorpusIsNaive(t *testing.T) {
	detectors := everyday()
	s := compile(t, detectors)
	forms := slices.Concat(secrets.Common(), secrets.Harder(), secrets.Benign())
	r := rand.New(rand.NewPCG(25, 26))
	texts, found := 60, 0
	if full() {
		texts = 600
	}
	for range texts {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			text, _ := forms[r.IntN(len(forms))].Write(r)
			b.WriteString(text[:len(text)-r.IntN(1+len(text)/4)])
			b.WriteString([]string{"\n", " ", "", "&", "é", `","`, "=", "_", "世"}[r.IntN(9)])
		}
		text := []byte(b.String())
		got := s.Scan(text, nil)
		found += len(got)
		if want := match.Naive(s, text); !slices.Equal(got, want) {
			t.Fatalf("%q:\ngot  %v\nwant %v", text, got, want)
		}
	}
	if found < texts/2 {
		t.Errorf("%d finds", found)
	}
}
