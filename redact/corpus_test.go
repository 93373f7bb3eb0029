package redact_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/secrets"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/redact"
)

// TestCorpus generates secrets in many forms, and verifies how many of them the default rules find.
// The rules must find nearly all secrets in common forms, most secrets in harder forms, and almost
// nothing in benign strings. A secret is found if fewer than twelve of its consecutive characters
// remain. A shorter secret is found unless all of it remains.
func TestCorpus(t *testing.T) {
	p := compile(t, redact.Default())
	for _, c := range []struct {
		name  string
		forms []secrets.Form
		least int     // forms
		found float64 // at least
	}{
		{"common", secrets.Common(), 600, 0.98},
		{"harder", secrets.Harder(), 800, 0.90},
	} {
		missed, texts := missedIn(t, p, c.forms)
		rate := 1 - float64(missed)/float64(texts)
		t.Logf("%s: %.2f %% of %d texts of %d forms are found", c.name, 100*rate, texts, len(c.forms))
		if len(c.forms) < c.least || rate < c.found {
			t.Errorf("%s: %d forms, expected %d; %.2f %% found, expected %.0f %%", c.name, len(c.forms), c.least, 100*rate, 100*c.found)
		}
	}
	benign := secrets.Benign()
	wrong, texts := falseIn(t, p, benign)
	rate := float64(wrong) / float64(texts)
	t.Logf("benign: something is withheld from %.2f %% of %d texts", 100*rate, texts)
	if len(benign) < 800 || rate > 0.01 {
		t.Errorf("%d benign forms, %.2f %% of the texts are changed", len(benign), 100*rate)
	}
}

// laps returns the number of strings to generate from each form.
func laps() int {
	if testsize.Full() {
		return 5
	}
	return 1
}

// missedIn returns the number of strings in which a part of a secret remains and the total number
// of strings.
func missedIn(t *testing.T, p *redact.Policy, forms []secrets.Form) (missed, texts int) {
	t.Helper()
	r, withheld := rand.New(rand.NewPCG(21, 22)), regexp.MustCompile(`<redacted:[a-z0-9_]+>`)
	for _, f := range forms {
		for range laps() {
			text, secrets := f.Write(r)
			texts++
			r := redacted(t, p, `{"metadata":{"log":`+asValue(text)+`}}`)
			draft := parse(t, string(r.Draft.Source()))
			if err := r.Disclosures.Check(draft); err != nil {
				t.Errorf("%q: the withheld value does not match: %v", text, err)
			}
			log := draft.Root().Member("metadata").Member("log")
			left := log.String()
			if log.Kind() != canon.KindString {
				left = string(log.Raw())
			}
			left = withheld.ReplaceAllString(left, "|")
			for _, s := range secrets {
				if part := leftOf(left, s); part != "" {
					missed++
					t.Logf("missed: %q: %q", f, part)
					break
				}
			}
		}
	}
	return missed, texts
}

// falseIn counts the strings in which something is withheld.
func falseIn(t *testing.T, p *redact.Policy, forms []secrets.Form) (wrong, texts int) {
	t.Helper()
	r := rand.New(rand.NewPCG(23, 24))
	for _, f := range forms {
		for range laps() {
			text, _ := f.Write(r)
			texts++
			if entries := redacted(t, p, `{"metadata":{"log":`+asValue(text)+`}}`).Entries; len(entries) > 0 {
				wrong++
				t.Logf("false: %q: %s", text, entries[0].Reason)
			}
		}
	}
	return wrong, texts
}

// asValue returns the JSON value for generated text: the text after the prefix "J:", or else the
// text as a string.
func asValue(text string) string {
	if value, ok := strings.CutPrefix(text, "J:"); ok {
		return value
	}
	return quote(text)
}
