package redact_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/secrets"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/redact"
)

// TestServices verifies that the secrets of services are found in forms that no sample contains. A
// secret is found if fewer than twelve of its consecutive characters remain. A secret that has no
// distinctive form and happens to resemble words may be missed in one or two cases.
//
// A Mailgun key without a name looks like the numbers in a trace.
func TestServices(t *testing.T) {
	p := compile(t, redact.Default())
	r := rand.New(rand.NewPCG(9, 10))
	withheld := regexp.MustCompile(`<redacted:[a-z0-9_]+>`)
	each := 8
	if testing.Short() {
		each = 4
	} else if testsize.Full() {
		each = 20
	}
	missed := map[string]int{}
	for _, f := range secrets.Services() {
		for range each {
			text, secrets := f.Form.Write(r)
			draft := redacted(t, p, `{"metadata":{"log":`+quote(text)+`}}`).Draft
			left := draft.Root().Member("metadata").Member("log").String()
			if leftOf(withheld.ReplaceAllString(left, "|"), secrets[0]) != "" {
				missed[f.Name]++
			}
		}
	}
	for service, n := range missed {
		if n > max(each/10, 1) && service != "Mailgun without a name" {
			t.Errorf("%s: %d of %d are missed", service, n, each)
		}
	}
	if n := len(secrets.Services()); n < 170 || missed["Mailgun without a name"] != each {
		t.Errorf("%d forms, missed %v", n, missed)
	}
}

// leftOf returns twelve consecutive characters of a secret that remain in a string, or "" if there
// are none. A shorter secret is returned only if all of it remains.
func leftOf(text, secret string) string {
	n := min(len(secret), 12)
	for i := 0; i+n <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+n]) {
			return secret[i : i+n]
		}
	}
	return ""
}

// TestBenign verifies that nothing is withheld in typical agent strings that contain no secrets.
func TestBenign(t *testing.T) {
	p := compile(t, redact.Default())
	r := rand.New(rand.NewPCG(11, 12))
	texts := secrets.Ordinary()
	if len(texts) < 80 {
		t.Fatal(len(texts))
	}
	for _, f := range texts {
		for range 3 {
			text, _ := f.Write(r)
			for _, e := range redacted(t, p, `{"metadata":{"log":`+quote(text)+`}}`).Entries {
				t.Errorf("%q: %s", text, e.Reason)
			}
		}
	}
}
