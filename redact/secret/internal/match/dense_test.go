package match_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/secrets"
	"github.com/receiptkit/receiptkit/redact/secret"
	"github.com/receiptkit/receiptkit/redact/secret/internal/match"
)

// dense returns consecutive assignments, each of which consists of a name, an operator, a value,
// and an end.
func dense(r *rand.Rand, size int) []byte {
	names := []string{"api_key", "secret", "password", "pwd", "token", "client_secret", "AWS_SECRET_ACCESS_KEY", "Cookie: sid", "key", "access_token", "--password", "\"apiKey\"", "auth", "to\u212aen", "é"}
	signs := []string{"=", ": ", "=\"", ":'", " ", " = ", "\":\"", "==", "->"}
	values := []secrets.Form{"", "x", "{a8}", "{a16}", "{a32}", "{h40}", "{w64}", "{memo}", "{p12}", "secret", "${X}", "changeme", "é{a16}", "{a16}\xff"}
	ends := []string{"\n", " ", "\"", "&", ";", "", ",", "'}", "世"}

	var b []byte
	for len(b) < size {
		value, _ := values[r.IntN(len(values))].Write(r)
		b = append(b, names[r.IntN(len(names))]+signs[r.IntN(len(signs))]+value+ends[r.IntN(len(ends))]...)
	}
	return b
}

// TestDenseIsNaive verifies the result of scanning a string in which every few bytes are or
// resemble a secret. The result must equal that of searching the entire string with every regular
// expression.
func TestDenseIsNaive(t *testing.T) {
	s := compile(t, everyday())
	texts := 40
	if full() {
		texts = 400
	}
	r := rand.New(rand.NewPCG(31, 32))
	found := 0
	for range texts {
		text := dense(r, 20+r.IntN(600))
		if r.IntN(4) == 0 { // uses repetitions of one assignment
			text = []byte(strings.Repeat(string(text[:min(len(text), 40)]), 1+r.IntN(20)))
		}
		got := s.Scan(text, nil)
		found += len(got)
		if want := match.Naive(s, text); !slices.Equal(got, want) {
			t.Fatalf("%q:\ngot  %v\nwant %v", text, got, want)
		}
	}
	if found < texts {
		t.Errorf("%d finds", found)
	}
}

// TestCriteria verifies that the criteria of allowances give the same results as their regular
// expressions, for secrets, words, and longer strings.
func TestCriteria(t *testing.T) {
	own := secret.Detector{Name: "own", Pattern: "x", Allow: []string{`\bcat\b`, `(?m)^cat$`, `cat$`, `^cat`, `\Bcat`, `(?i)k.s`, `^.$`, `[^a-z]t`, `caf\x{e9}`, `^$|cat`}}
	s := compile(t, append(everyday(), own))
	r := rand.New(rand.NewPCG(33, 34))
	texts := [][]byte{{}}
	for _, text := range strings.Fields("cat cats concat a_cat a-cat-b \u212aes \u212aa\u017f é ét caf\u00e9 cafè x\ncat\ny \xe9 ca\xc3 \xc3\xa9\xa9t") {
		texts = append(texts, []byte(text), []byte(text+"\n"), []byte("\n"+text))
	}
	for _, f := range slices.Concat(secrets.Common(), secrets.Benign()) {
		text, secrets := f.Write(r)
		for _, x := range append(secrets, text, "é"+text) {
			texts = append(texts, []byte(x))
		}
	}
	if brief() {
		texts = texts[:200]
	} else if !full() {
		texts = slices.Concat(texts[:400], texts[len(texts)-200:])
	}

	criteria, met := match.Criteria(s), 0
	for _, c := range criteria {
		for _, text := range texts {
			got, want := c.Met(text)
			if got != want {
				t.Fatalf("%s of %q: %v", c.Pattern, text, got)
			}
			if got {
				met++
			}
		}
	}
	if len(criteria) < 20 || met < 100 {
		t.Errorf("%d criteria, met %d times", len(criteria), met)
	}
}

// TestLastLetter verifies that, if a match ends with a multibyte letter at the end of the text, the
// match includes all bytes of the letter.
func TestLastLetter(t *testing.T) {
	detectors := []secret.Detector{{Name: "two", Pattern: `key[^ ]{2}$`}, {Name: "group", Pattern: `(?:tok|cat)=([^ ]{1,3})$`, Group: 1}}
	s := compile(t, detectors)
	for text, want := range map[string][]match.Span{
		"a keyaé": {{2, 8, 0}}, "keyé世": {{0, 8, 0}}, "x tok=aé": {{6, 9, 1}}, "cat=abé": {{4, 8, 1}}, "tok=abcé": nil, "keyaéb": nil,
	} {
		if got := s.Scan([]byte(text), nil); !slices.Equal(got, want) || !slices.Equal(match.Naive(s, []byte(text)), want) {
			t.Errorf("%s: found %v, want %v", text, got, want)
		}
	}
}
