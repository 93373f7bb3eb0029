package redact_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// TestCorpus measures what the default rules find in the forms of six files,
// with values that are made anew: nearly all common forms, most of the harder
// ones, and in what is benign hardly anything. A secret is found when no twelve
// characters of it are left, of a shorter one not all.
func TestCorpus(t *testing.T) {
	p := compile(t, redact.Default())
	for _, c := range []struct {
		name  string
		forms []string
		least int     // forms
		found float64 // at least
	}{
		{"common", append(commonForms(), draftedCommonForms()...), 600, 0.98},
		{"harder", append(harderForms(), draftedHarderForms()...), 800, 0.90},
	} {
		missed, texts := missedIn(t, p, c.forms)
		rate := 1 - float64(missed)/float64(texts)
		t.Logf("%s: %.2f %% of %d texts of %d forms are found", c.name, 100*rate, texts, len(c.forms))
		if len(c.forms) < c.least || rate < c.found {
			t.Errorf("%s: %d forms, expected %d; %.2f %% found, expected %.0f %%", c.name, len(c.forms), c.least, 100*rate, 100*c.found)
		}
	}
	benign := append(benignForms(), draftedBenignForms()...)
	wrong, texts := falseIn(t, p, benign)
	rate := float64(wrong) / float64(texts)
	t.Logf("benign: something is withheld from %.2f %% of %d texts", 100*rate, texts)
	if len(benign) < 800 || rate > 0.01 {
		t.Errorf("%d benign forms, %.2f %% of the texts are not left alone", len(benign), 100*rate)
	}
}

// laps is how often each form is written.
func laps() int {
	if testing.Short() {
		return 1
	}
	return 5
}

// missedIn counts the texts of which secrets are left, as a member and in a text
// within a text.
func missedIn(t *testing.T, p *redact.Policy, forms []string) (missed, texts int) {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 22))
	for _, f := range forms {
		for range laps() {
			text, secrets := writeForm(r, f)
			texts++
			draft := redacted(t, p, `{"metadata":{"log":`+asValue(text)+`}}`).Draft
			log := parse(t, string(draft)).Root().Member("metadata").Member("log")
			left := log.String()
			if log.Kind() != canon.KindString {
				left = string(log.Raw())
			}
			left = regexp.MustCompile(`<redacted:[a-z0-9_]+>`).ReplaceAllString(left, "|")
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

// falseIn counts the texts from which something is withheld.
func falseIn(t *testing.T, p *redact.Policy, forms []string) (wrong, texts int) {
	t.Helper()
	r := rand.New(rand.NewPCG(23, 24))
	for _, f := range forms {
		for range laps() {
			text, _ := writeForm(r, f)
			texts++
			if entries := redacted(t, p, `{"metadata":{"log":`+asValue(text)+`}}`).Entries; len(entries) > 0 {
				wrong++
				t.Logf("false: %q: %s", text, entries[0].Reason)
			}
		}
	}
	return wrong, texts
}

// asValue returns the JSON value that a text is in a draft: what stands behind J:,
// or a string.
func asValue(text string) string {
	if value, ok := strings.CutPrefix(text, "J:"); ok {
		return value
	}
	return quote(text)
}

// writeForm makes a text of a form, and returns what stood between « and ».
func writeForm(r *rand.Rand, f string) (text string, secrets []string) {
	text, _ = form{text: people(r, f)}.writeMarked(r)
	for _, part := range strings.Split(text, "«")[1:] {
		secret, _, _ := strings.Cut(part, "»")
		secrets = append(secrets, secret)
	}
	return strings.NewReplacer("«", "", "»", "").Replace(text), secrets
}

// people writes what people make up: {memo} is a word with a number, {phrase}
// three words, {p14} a password with the signs that need no quotes, {x14} one
// with every sign but quotes, {dsc} the number of an account of Discord.
func people(r *rand.Rand, text string) string {
	words := strings.Fields("winter falcon copper meadow lantern harbor velvet thunder pickle rocket saffron walnut glacier domino tiger bamboo")
	word := func() string { return words[r.IntN(len(words))] }
	pick := func(letters string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	return regexp.MustCompile(`\{(?:memo|phrase|dsc|[px][0-9]+)\}`).ReplaceAllStringFunc(text, func(m string) string {
		switch m {
		case "{memo}":
			w := word()
			return strings.ToUpper(w[:1]) + w[1:] + pick("0123456789", 2+r.IntN(3)) + pick("!?#_+.", r.IntN(2))
		case "{phrase}":
			return word() + " " + word() + " " + word()
		case "{dsc}":
			return pick("TDjz", 1) + "EyMzQ1Njc4OTAxMjM0NTY3OA"[:23-r.IntN(2)]
		}
		const letters, digits = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ", "23456789"
		signs := "!#^+=_-.?~@"
		if m[1] == 'x' {
			signs += "$%&*()[]{}<>;:,|/"
		}
		n, _ := strconv.Atoi(m[2 : len(m)-1])
		return pick(letters, 1) + pick(digits, 1) + pick(letters+digits+signs, n-4) + pick(digits, 1) + pick(letters, 1)
	})
}
