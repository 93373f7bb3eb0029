package rulefile_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact/rulefile"
)

// example returns the code block in the given language from docs/redaction.md, which must contain
// exactly one such block.
func example(t *testing.T, language string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../docs/redaction.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(text, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d examples in %s, expected 1", len(blocks), language)
	}
	return blocks[0][1]
}

// TestDocumentedPolicy verifies that the policy in the documentation works as described.
func TestDocumentedPolicy(t *testing.T) {
	rules, err := rulefile.Parse(example(t, "yaml"))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := rules.Compile()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	doc, err := canon.Parse([]byte(`{"metadata":{"a":[{"iban":"x","Customer-Name":"x","card_pin":1}],"log":"BADGE-123456, BADGE-000456, BADGE-111111","ref":"token=${NPM_TOKEN}","password":"x",
		"twilio":"SK` + "0123456789abcdef0123456789abcdef" + `"},"side_effects":{"tool_calls":[{"metadata":{"q":"x"}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range policy.Find(doc) {
		got[f.Pointer] = f.Rule
	}
	want := map[string]string{
		"/metadata/a/0/iban": "pointer", "/metadata/a/0/Customer-Name": "name", "/metadata/a/0/card_pin": "name", "/metadata/log": "pattern badge", "/metadata/password": "name",
		"/side_effects/tool_calls/0/metadata/q": "pointer",
	}
	for pointer, rule := range want {
		if got[pointer] != rule {
			t.Errorf("%s: %q, want %q", pointer, got[pointer], rule)
		}
	}
	if len(got) != len(want) {
		t.Errorf("found %v", got)
	}
}

// TestDocumentedGitleaks verifies that the configuration in the documentation works as described.
func TestDocumentedGitleaks(t *testing.T) {
	list, err := rulefile.ParseGitleaks(example(t, "toml"))
	if err != nil {
		t.Fatal(err)
	}
	s := compile(t, list)
	for text, want := range map[string]int{"x acme_" + "7k2m9q4x8w1z5t3v6b0n2j4h": 1, "acme_aaaaaaaaaaaaaaaaaaaaaaaa": 0, "acme_example7k2m9q4x8w1z5t3v6": 0, "acme_short": 0} {
		found := s.Scan([]byte(text), nil)
		if len(found) != want || want > 0 && s.Name(found[0].Detector) != "acme-token" {
			t.Errorf("%q: got %v, want %d", text, found, want)
		}
	}
}
