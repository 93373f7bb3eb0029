package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// TestErrorTexts verifies the exact text of errors.
func TestErrorTexts(t *testing.T) {
	p := compile(t, redact.Rules{Names: []string{"id", "currency"}, Pointers: []string{"/metadata/x"}})
	for in, want := range map[string]string{
		`[]`: "redact: the draft cannot be redacted: 1 problem\nnot_object: expected a JSON object",
		`{"chain":{"receipt_hash":"x"}}`: "redact: the draft cannot be redacted: 1 problem\n" +
			`already_sealed: a sealed receipt cannot be redacted, because its hash would become invalid: redact the draft before it is sealed at "/chain/receipt_hash"`,
		`{"subject":{"id":"x"},"cost":{"currency":"EUR"}}`: "redact: the draft cannot be redacted: 3 problems\n" +
			`no_such_path: the pointer names no value; only a pointer with * or ** may do so at "/metadata/x"` + "\n" +
			`schema_break: the format requires a value here that cannot be hidden: withhold its members, or the entire list at "/cost/currency" (name)` + "\n" +
			`protected_field: a receipt requires this member, or one in it, unchanged: keep secrets out of it at "/subject/id" (name)`,
	} {
		_, err := p.Redact(parse(t, in), newSalts())
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant\n%s", in, err, want)
		}
	}
	long := &redact.RefusedError{Problems: []redact.Problem{{Code: redact.CodeSizeLimit}, {Code: "other", Pointer: strings.Repeat("é", 1000)}}, Total: 2}
	if text := long.Error(); !strings.Contains(text, "size_limit: the redacted draft would have more than 16777216 bytes\nother: other at \"\\u00e9") || len(text) > 2000 {
		t.Error(text)
	}
	if err := (&redact.DisclosureError{Field: "/é\n", Detail: "x"}); err.Error() != `redact: field "/\u00e9\n": x` {
		t.Error(err)
	}
	one, two := canon.Sum([]byte("1")), canon.Sum([]byte("2"))
	differs := &redact.DisclosureError{Field: "/a", Detail: "x", Stated: one, Computed: two}
	if want := fmt.Sprintf(`redact: field "/a": x: the receipt commits to %v, the disclosure is %v`, one, two); differs.Error() != want {
		t.Error(differs)
	}
}
