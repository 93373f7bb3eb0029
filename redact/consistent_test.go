package redact_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// TestConsistent verifies which values may occupy the location of a disclosed value, both in the
// receipt and in the value disclosed for an ancestor.
func TestConsistent(t *testing.T) {
	for _, c := range []struct {
		receipt string
		shown   [][2]string // field, value
		holds   bool
	}{
		{`{}`, [][2]string{{"/metadata/a", `1`}}, true},
		{`{"metadata":{"a":null,"b":"","c":[],"d":{},"e":"[redacted]","f":"at %5Bredacted%5D","g":"[REDACTED]","h":"****"}}`,
			[][2]string{{"/metadata/a", `1`}, {"/metadata/b", `1`}, {"/metadata/c", `1`}, {"/metadata/d", `1`}, {"/metadata/e", `1`}, {"/metadata/f", `"at x"`}, {"/metadata/g", `1`}, {"/metadata/h", `1`}}, true},
		{`{"metadata":{"a":"not redacted"}}`, [][2]string{{"/metadata/a", `"x"`}}, false},
		{`{"metadata":{"a":"x"}}`, [][2]string{{"/metadata/a", `"x"`}}, false},
		{`{"metadata":{"a":"see https://h/p#token=%5Bredacted%5D"}}`, [][2]string{{"/metadata/a", `"see https://me:pw@h/p#token=1"`}}, true},
		{`{"metadata":{"a":"see https://h/p"}}`, [][2]string{{"/metadata/a", `"see https://me:pw@h/p#token=1"`}}, false},
		{`{"metadata":{"a":"see https://h/q"}}`, [][2]string{{"/metadata/a", `"see https://me:pw@h/p"`}}, false},
		{`{"metadata":{"a":"https://h/"}}`, [][2]string{{"/metadata/a", `"https://h/"`}}, false},
		{`{"metadata":{"a":0}}`, [][2]string{{"/metadata/a", `1`}}, false},
		{`{"metadata":{"a":false}}`, [][2]string{{"/metadata/a", `true`}}, false},
		{`{"model_route":{"chosen_model":{"model":"[redacted]","provider":"[redacted]"}}}`, [][2]string{{"/model_route/chosen_model", `{"model":"m","provider":"p"}`}}, true},
		{`{"receipt_id":"r"}`, [][2]string{{"/receipt_id", `"r"`}}, true},
		{`{"receipt_id":"r"}`, [][2]string{{"/receipt_id", `"s"`}}, false},
		{`{}`, [][2]string{{"/metadata/a", `{"b":1}`}, {"/metadata/a/b", `1`}}, true},
		{`{}`, [][2]string{{"/metadata/a/b", `2`}, {"/metadata/a", `{"b":1}`}}, false},
		{`{}`, [][2]string{{"/metadata/a", `{"c":1}`}, {"/metadata/a/b", `2`}}, false},
		{`{}`, [][2]string{{"/metadata/a", `{"b":null}`}, {"/metadata/a/b", `2`}}, false},
		{`{}`, [][2]string{{"/metadata/a", `{"b":"<redacted:pin>"}`}, {"/metadata/a/b", `"2"`}}, true},
		{`{}`, [][2]string{{"/metadata", `{"a":"[redacted]"}`}, {"/metadata/a/b", `2`}}, true},
		{`{}`, [][2]string{{"/metadata", `{"a":[1,{"b~/":3}]}`}, {"/metadata/a/1/b~0~1", `3`}, {"/metadata/a/0", `1`}}, true},
		{`{}`, [][2]string{{"/metadata", `{"a":[1]}`}, {"/metadata/a/00", `1`}}, false},
		{`{}`, [][2]string{{"/metadata/a", `1`}, {"/metadata/ab", `2`}}, true},
		{`{}`, [][2]string{{"/metadata/a", `1`}, {"/metadata/a", `2`}}, false},
		{`{}`, [][2]string{{"/metadata/a", `1`}, {"/metadata/a", `1`}}, true},
		{`{}`, [][2]string{{"metadata", `1`}}, false},
		{`{}`, [][2]string{{"/metadata/a", `9007199254740993`}}, false},

		// In URLs, only user information and sensitive parameters are removed.
		{`{"metadata":{"a":"https://a.org"}}`, [][2]string{{"/metadata/a", `"https://hacker.ru/?q=a.org"`}}, false},
		{`{"metadata":{"a":"https://a.org"}}`, [][2]string{{"/metadata/a", `"https://hacker.ru/?q=@a.org"`}}, false},
		{`{"metadata":{"a":"https://a.org"}}`, [][2]string{{"/metadata/a", `"https://me:pw@a.org"`}}, true},
		{`{"metadata":{"a":"https://a.org/?token=%5Bredacted%5D"}}`, [][2]string{{"/metadata/a", `"https://me:pw@a.org/?token=1"`}}, true},
		{`{"metadata":{"a":"https://a.org/?token=%5Bredacted%5D"}}`, [][2]string{{"/metadata/a", `"https://a.org/?token=1&sum=5000"`}}, false},
		{`{"metadata":{"a":"https://a.org/#code=1"}}`, [][2]string{{"/metadata/a", `"https://me:pw@a.org/#code=1"`}}, true}, // upstream
		{`{"metadata":{"a":"https://a.org/?token=${T}"}}`, [][2]string{{"/metadata/a", `"https://me:pw@a.org/?token=${T}"`}}, true},
		{`{"metadata":{"a":"https://a.org/?token=%5Bredacted%5D"}}`, [][2]string{{"/metadata/a", `"https://a.org/?token=${T}"`}}, true},
		{`{"metadata":{"a":"go https%3A%2F%2Fa.org"}}`, [][2]string{{"/metadata/a", `"go https%3A%2F%2Fme%3Apw%40a.org"`}}, true},
		{`{"metadata":{"a":"go https%3A%2F%2Fa.org"}}`, [][2]string{{"/metadata/a", `"go https%3A%2F%2Fhacker.ru%2Fa.org"`}}, false},
		{`{"metadata":{"a":"{\"u\":\"https:\\/\\/a.org\"}"}}`, [][2]string{{"/metadata/a", `"{\"u\":\"https:\\/\\/me:pw@a.org\"}"`}}, true},
		{`{"metadata":{"a":"https://a.org <redacted:pin>"}}`, [][2]string{{"/metadata/a", `"https://me:pw@a.org 1234"`}}, true},
		{`{"metadata":{"a":"https://a.org <redacted:pin>"}}`, [][2]string{{"/metadata/a", `"https://b.org 1234"`}}, false},

		// Parts of these strings are withheld.
		{`{"metadata":{"a":"paid 5 EUR to [redacted]"}}`, [][2]string{{"/metadata/a", `"paid 5000 EUR to bob"`}}, false},
		{`{"metadata":{"a":"paid 5 EUR to [redacted]"}}`, [][2]string{{"/metadata/a", `"paid 5 EUR to bob"`}}, true},
		{`{"metadata":{"a":"paid 5 EUR to [redacted]"}}`, [][2]string{{"/metadata/a", `{"to":"bob"}`}}, false},
		{`{"metadata":{"a":"<redacted:x:3> and <redacted:y> met"}}`, [][2]string{{"/metadata/a", `"bob and eve met"`}}, true},
		{`{"metadata":{"a":"<redacted:x:3> and <redacted:y> met"}}`, [][2]string{{"/metadata/a", `"bob or eve met"`}}, false},
		{`{"metadata":{"a":"<redacted:x:3> and <redacted:y> met"}}`, [][2]string{{"/metadata/a", `"bob and eve left"`}}, false},
		{`{"metadata":{"a":"aa[redacted]aa"}}`, [][2]string{{"/metadata/a", `"aaa"`}}, false},
		{`{"metadata":{"a":"[redacted][redacted]"}}`, [][2]string{{"/metadata/a", `5`}}, false},
		{`{}`, [][2]string{{"/metadata/a", `{"b":"5 to [redacted]"}`}, {"/metadata/a/b", `"6 to bob"`}}, false},
		{`{}`, [][2]string{{"/metadata/a", `{"b":"5 to [redacted]"}`}, {"/metadata/a/b", `"5 to bob"`}}, true},

		// No original document has a value at these locations, unless null, a placeholder, or an
		// empty list hides it.
		{`{"metadata":{"pin":"1234"}}`, [][2]string{{"/metadata/pin/x", `5`}}, false},
		{`{"metadata":{"pin":7}}`, [][2]string{{"/metadata/pin/x", `5`}}, false},
		{`{"metadata":{"pin":"1 [redacted]"}}`, [][2]string{{"/metadata/pin/x", `5`}}, false},
		{`{"metadata":{"pin":"[redacted]"}}`, [][2]string{{"/metadata/pin/x", `5`}}, true},
		{`{"metadata":{"pin":null}}`, [][2]string{{"/metadata/pin/x", `5`}}, true},
		{`{"metadata":{"l":[1]}}`, [][2]string{{"/metadata/l/1", `5`}}, false},
		{`{"metadata":{"l":["[redacted]"]}}`, [][2]string{{"/metadata/l/0", `5`}}, true},
		{`{"metadata":{"l":["[redacted]"]}}`, [][2]string{{"/metadata/l/00", `5`}}, false},
		{`{"metadata":{"l":["[redacted]"]}}`, [][2]string{{"/metadata/l/-", `5`}}, false},
		{`{"metadata":{"l":["[redacted]"]}}`, [][2]string{{"/metadata/l/foo", `5`}}, false},
		{`{"metadata":{"l":["[redacted]"]}}`, [][2]string{{"/metadata/l/1/foo", `5`}}, false},
		{`{"side_effects":{"fs_writes":[{"path":"a"}]}}`, [][2]string{{"/side_effects/fs_writes/1", `{"path":"b"}`}}, false},
		{`{"side_effects":{"fs_writes":[]}}`, [][2]string{{"/side_effects/fs_writes/1/path", `"b"`}}, true},
		{`{"side_effects":{"fs_writes":[]}}`, [][2]string{{"/side_effects/fs_writes/foo", `"b"`}}, false},
		{`{"side_effects":{"fs_writes":[]}}`, [][2]string{{"/side_effects/fs_writes/-1", `"b"`}}, false},
	} {
		doc, err := canon.Parse([]byte(c.receipt))
		if err != nil {
			t.Fatal(err)
		}
		var shown []redact.Disclosure
		for _, f := range c.shown {
			shown = append(shown, redact.Disclosure{Field: f[0], Value: []byte(f[1])})
		}
		if err := redact.Consistent(doc, shown); (err == nil) != c.holds {
			t.Errorf("%s %q: %v", c.receipt, c.shown, err)
		}
	}
}

// TestConsistentURLs verifies that a value is accepted if rules withheld any parts of its URLs, in
// all spellings, and rejected if the receipt contains another host.
func TestConsistentURLs(t *testing.T) {
	spellings := map[string]func(string) string{
		"plain":   func(s string) string { return s },
		"prose":   func(s string) string { return "go to (" + s + "), then " + s + "." },
		"escaped": func(s string) string { return `{"u":"` + strings.ReplaceAll(s, "/", `\/`) + `"}` },
		"percent": func(s string) string { return "https://proxy/?next=" + url.QueryEscape(s) + "&x=1" },
		"hidden":  func(s string) string { return "key ghp_" + strings.Repeat("aB3dE6", 6) + " " + s },
		"twice":   func(s string) string { return s + " [redacted] " + s },
	}
	withheld := 0
	for _, address := range []string{
		"https://me:pw@host.example/p?token=abcdefgh12345#access_token=ijklmnop67890", "http://me@host.example", "https://me:p/w@host.example/x@y",
		"https://host.example/?a=1&password=hunter22hunter;token=${T}#code=7", "postgres://me:pw@host.example:5432/db", "https://${U}:${P}@host.example/?to%6ben=1",
		"https://a:b@h:pw/x@host.example", "git+ssh://git@host.example/?x=https://me:pw@inner/#pwd=5",
	} {
		for name, spell := range spellings {
			for _, rules := range []redact.Rules{redact.Default(), redact.Strict(), redact.Upstream()} {
				r := redacted(t, compile(t, rules), `{"metadata":{"log":`+quote(spell(address))+`}}`)
				if err := r.Disclosures.Check(parse(t, string(r.Draft.Source()))); err != nil {
					t.Errorf("%s, %s, %s: %v: %s", address, name, rules.Name, err, r.Draft.Source())
				}
				other := strings.Replace(string(r.Draft.Source()), "host.example", "host.exampl", 1)
				if len(r.Disclosures.Fields) == 0 || !strings.Contains(string(r.Draft.Source()), "host.example") {
					continue
				}
				withheld++
				if err := r.Disclosures.Check(parse(t, other)); err == nil {
					t.Errorf("%s, %s, %s: another host fits: %s", address, name, rules.Name, other)
				}
			}
		}
	}
	if withheld < 60 {
		t.Errorf("%d texts", withheld)
	}
}

// TestConsistentPlaceholders verifies which placeholders are accepted for an entirely withheld
// value.
func TestConsistentPlaceholders(t *testing.T) {
	for text, known := range map[string]bool{
		"[redacted]": true, "[withheld]": true, "%5Bredacted%5D": true, "<redacted:npm_token>": true, "<redacted:npm_token:40>": true,
		"(outside the workspace)": true, "(outside 12: git hook)": true, "[REDACTED]": true, "<withheld>": true, "***": true, "": true,
		"{}": false, "(***)": false, "*": false, "()": false, " ": false, "(outside of my budget: 500)": false, "(outside 1: my budget)": false,
		"(outside : system)": false, "(outside 01: system)": false, "<redacted: my budget>": false, "<redacted:>": false, "<redacted:a:>": false,
		"<redacted:a:1234567890>": false, "<redacted:a": false, "npm_token>": false, "[redacted] 5": false,
	} {
		doc := parse(t, `{"metadata":{"a":`+quote(text)+`}}`)
		err := redact.Consistent(doc, []redact.Disclosure{{Field: "/metadata/a", Value: []byte(`1`)}})
		if (err == nil) != known {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestConsistentAfterTwoRedactions verifies that values that were withheld by two policies, one
// after the other, do not contradict each other.
func TestConsistentAfterTwoRedactions(t *testing.T) {
	const draft = `{"metadata":{"pin":"1234","deep":{"pin":"5678","note":"mail to a@b"},"list":[{"pin":1},2]},"side_effects":{"tool_calls":[
		{"call_id":"c","tool":"t","status":"succeeded","input_hash":"sha256:03ac674216f3e15c761ee1a5e255f067953623c8b388b4459e13f978d7c846f4","metadata":{"pin":"1234","x":1}}]},
		"model_route":{"chosen_model":{"provider":"p","model":"m"},"alternatives_considered":[{"provider":"q","model":"n"}],"route_policy_reason":"r"}}`
	steps := [][]string{
		{"/metadata/**/pin", "/side_effects/tool_calls/*/metadata/pin", "/model_route/chosen_model", "/side_effects/tool_calls/*/input_hash"},
		{"/metadata/deep", "/metadata/list", "/side_effects/tool_calls/*/metadata", "/model_route/alternatives_considered/*"},
		{"/metadata", "/side_effects/tool_calls", "/model_route"},
	}

	doc, err := canon.Parse([]byte(draft))
	if err != nil {
		t.Fatal(err)
	}
	var shown []redact.Disclosure
	source := new(salts)
	for _, pointers := range steps {
		policy, err := redact.Rules{Name: "test", Pointers: pointers}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		r, err := policy.Redact(doc, source)
		if err != nil {
			t.Fatal(err)
		}
		if doc, err = canon.Parse(r.Draft.Source()); err != nil {
			t.Fatal(err)
		}
		shown = append(shown, r.Disclosures.Fields...)
		if err := (&redact.Disclosures{Fields: shown}).Check(doc); err != nil {
			t.Fatalf("%s: %v", pointers, err)
		}
	}
	if len(shown) < 12 {
		t.Errorf("%d values", len(shown))
	}

	// If either value is changed, it contradicts the other.
	last := &shown[len(shown)-1]
	last.Value = []byte(`{"chosen_model":{"model":"other","provider":"p"}}`)
	var contradiction *redact.DisclosureError
	if err := redact.Consistent(doc, shown); !errors.As(err, &contradiction) {
		t.Errorf("%v", err)
	}
}
