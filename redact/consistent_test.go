package redact_test

import (
	"errors"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// TestConsistent lists what may stand in the place of a disclosed value, in the receipt and
// in the value disclosed for an ancestor.
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
		{`{"metadata":{"a":"see https://h/p"}}`, [][2]string{{"/metadata/a", `"see https://me:pw@h/p#token=1"`}}, true},
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
		{`{}`, [][2]string{{"/metadata/a", `9007199254740993`}}, false},
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

// TestConsistentAfterTwoRedactions verifies that values withheld by two policies, one after
// the other, do not contradict each other.
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
		if doc, err = canon.Parse(r.Draft); err != nil {
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

	// And one of them changed contradicts the others.
	last := &shown[len(shown)-1]
	last.Value = []byte(`{"chosen_model":{"model":"other","provider":"p"}}`)
	var contradiction *redact.ContradictionError
	if err := redact.Consistent(doc, shown); !errors.As(err, &contradiction) {
		t.Errorf("%v", err)
	}
}
