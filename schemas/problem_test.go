package schemas_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

// TestWording verifies the text of every kind of problem.
func TestWording(t *testing.T) {
	long := strings.Repeat("é", 40) // 80 bytes
	for _, c := range []struct{ schema, document, want string }{
		{`{"required": ["a", "b\n"]}`, `{}`, `: required: missing member "a"; : required: missing member "b\n"`},
		{`{"properties": {"x": {"required": ["a"]}}}`, `{"x": {}}`, `/x: required: missing member "a"`},
		{`{"additionalProperties": false}`, `{"~/": 1, "": 2}`, `/: additionalProperties: unknown member ""; /~0~1: additionalProperties: unknown member "~/"`},
		{`{"type": "string"}`, `1`, `: type: expected string, found number`},
		{`{"type": ["string", "null"]}`, `{}`, `: type: expected null or string, found object`},
		{`{"type": "integer"}`, `1.5`, `: type: expected integer, found number`},
		{`{"type": "object"}`, `[]`, `: type: expected object, found array`},
		{`{"type": "object"}`, `true`, `: type: expected object, found boolean`},
		{`{"type": "object"}`, `null`, `: type: expected object, found null`},
		{`{"const": "a"}`, `"b"`, `: const: expected "a", found a string of 1 character`},
		{`{"const": 1}`, `true`, `: const: expected 1, found true`},
		{`{"const": null}`, `[1]`, `: const: expected null, found an array`},
		{`{"const": {}}`, `{"a": 1}`, `: const: expected an object, found an object`},
		{`{"enum": ["SUCCEEDED", "FAILED", "CANCELED"]}`, `"DONE"`, `: enum: expected one of "SUCCEEDED", "FAILED", "CANCELED", found a string of 4 characters`},
		{`{"enum": [1, false]}`, `1e21`, `: enum: expected one of 1, false, found a number`},
		{`{"pattern": "^a$"}`, `"a\n"`, `: pattern: expected a string that matches ^a$, found a string of 2 characters`},
		{`{"pattern": "^a$"}`, `"` + long + `"`, `: pattern: expected a string that matches ^a$, found a string of 40 characters`},
		{`{"pattern": "^a$"}`, `"x` + long + `"`, `: pattern: expected a string that matches ^a$, found a string of 41 characters`},
		{`{"pattern": "^a$"}`, `"\u001b[31m\u202e\u0000\u009b"`, `: pattern: expected a string that matches ^a$, found a string of 8 characters`},
		{`{"format": "date-time"}`, `"yesterday"`, `: format: expected a date-time, found a string of 9 characters`},
		{`{"minLength": 1}`, `""`, `: minLength: expected at least 1 character, found 0`},
		{`{"minLength": 3}`, `"😀é"`, `: minLength: expected at least 3 characters, found 2`},
		{`{"maxLength": 2}`, `"😀é!"`, `: maxLength: expected at most 2 characters, found 3`},
		{`{"minimum": 0}`, `-1`, `: minimum: expected at least 0, found less`},
		{`{"minimum": 0.5}`, `-1e-9`, `: minimum: expected at least 0.5, found less`},
		{`{"minimum": 0}`, `-1e300`, `: minimum: expected at least 0, found less`},
		{`{"maximum": 253402300799}`, `253402300800`, `: maximum: expected at most 253402300799, found more`},
		{`{"exclusiveMaximum": 1e15}`, `1000000000000000`, `: exclusiveMaximum: expected less than 1000000000000000, found as much or more`},
		{`{"minItems": 1}`, `[]`, `: minItems: expected at least 1 element, found 0`},
		{`{"maxItems": 2}`, `[1, 2, 3]`, `: maxItems: expected at most 2 elements, found more`},
		{`{"uniqueItems": true}`, `[1, 2, 1.0]`, `: uniqueItems: expected distinct elements, found 0 and 2 equal`},
		{`{"contains": {"const": 1}}`, `[2, 3]`, `: contains: none of the elements is one that is needed`},
		{`{"properties": {"d": false}}`, `{"d": "secret"}`, `/d: properties: member "d" is not allowed`},
		{`{"anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}]}`, `{"a": 1}`, `: anyOf: needs "b", or "c"`},
		{`{"anyOf": [{"required": ["a", "b"]}, {"type": "string"}]}`, `{}`, `: anyOf: needs "a" and "b", or another form`},
		{`{"multipleOf": 2}`, `3`, `: multipleOf: the keyword "multipleOf" does not hold`},
		{`false`, `1`, `: properties: member "" is not allowed`},
		{`{"allOf": [{"type": "string"}, {"$ref": "#/$defs/s"}], "$defs": {"s": {"type": "string"}}}`, `1`, `: type: expected string, found number`},
		{`{"items": {"type": "string"}}`, `[1, "a", 2]`, `/0: type: expected string, found number; /2: type: expected string, found number`},
	} {
		s, err := schemas.CompileText("urn:test", []byte(c.schema), schemas.Embedded{})
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		got := check(t, s, c.document)
		var words []string
		for _, p := range got.Problems {
			words = append(words, p.Pointer+": "+p.Keyword+": "+p.Detail)
		}
		if joined := strings.Join(words, "; "); joined != c.want || got.Total != len(words) {
			t.Errorf("%s of %s:\n%s (%d)\nwant\n%s", c.document, c.schema, joined, got.Total, c.want)
		}
	}
}

// TestReceiptWording verifies the messages that the author of a receipt would see.
func TestReceiptWording(t *testing.T) {
	s, receipt := must(t, schemas.Receipt), fullReceipt(t)
	for _, c := range []struct {
		path string
		v    any
		want schemas.Problem
	}{
		{"lifecycle.final_state", "DONE", schemas.Problem{"/lifecycle/final_state", "enum", `expected one of "SUCCEEDED", "FAILED", "CANCELED", found a string of 4 characters`}},
		{"schema", "receipt-2027-01-01", schemas.Problem{"/schema", "const", `expected "receipt-2026-04-25", found a string of 18 characters`}},
		{"cost.total", number("-0.01"), schemas.Problem{"/cost/total", "minimum", "expected at least 0, found less"}},
		{"cost.currency", "eur", schemas.Problem{"/cost/currency", "pattern", `expected a string that matches ^[A-Z]{3}$, found a string of 3 characters`}},
		{"receipt_id", "", schemas.Problem{"/receipt_id", "minLength", "expected at least 1 character, found 0"}},
		{"identifiers.tenant_id", nil, schemas.Problem{"/identifiers/tenant_id", "type", "expected string, found null"}},
		{"issued_at", "2026-04-25", schemas.Problem{"/issued_at", "format", `expected a date-time, found a string of 10 characters`}},
		{"lifecycle.failure", "x", schemas.Problem{"/lifecycle/failure", "type", "expected null or object, found string"}},
		{"chain.receipt_hash", "sha256:" + strings.Repeat("0", 63), schemas.Problem{"/chain/receipt_hash", "pattern", `expected a string that matches ^sha256:[0-9a-f]{64}$, found a string of 70 characters`}},
		{"replay_input.materials.0", map[string]any{"kind": "artifact"}, schemas.Problem{"/replay_input/materials/0", "anyOf", `needs "uri" and "sha256", or "bytes_base64" and "sha256", or "metadata"`}},
		{"replay_input.materials.0", map[string]any{"kind": "artifact", "sha256": digest}, schemas.Problem{"/replay_input/materials/0", "anyOf", `needs "uri", or "bytes_base64", or "metadata"`}},
	} {
		got := check(t, s, text(t, put(receipt, strings.Split(c.path, "."), c.v)))
		if !slices.Equal(got.Problems, []schemas.Problem{c.want}) {
			t.Errorf("%s: %+v\nwant %+v", c.path, got.Problems, c.want)
		}
	}
}

// TestManyProblems verifies that the first twenty problems are listed and that all problems are
// counted.
func TestManyProblems(t *testing.T) {
	s, receipt := must(t, schemas.Receipt), fullReceipt(t)
	for i := range 500 {
		receipt[fmt.Sprintf("unknown%03d", i)] = nil
	}
	got := check(t, s, text(t, receipt))
	if got.Total != 500 || len(got.Problems) != schemas.MaxProblems {
		t.Fatalf("%d problems, %d reported", got.Total, len(got.Problems))
	}
	for i, p := range got.Problems {
		if want := fmt.Sprintf("/unknown%03d", i); p.Pointer != want {
			t.Errorf("%s, want %s", p.Pointer, want)
		}
	}
}

// TestNoRawForeignText verifies that messages never contain harmful characters from names or values
// without escaping them. Messages never show values.
func TestNoRawForeignText(t *testing.T) {
	s := must(t, schemas.Receipt)
	var nasty strings.Builder
	for r := rune(0); r < 0x3000; r++ {
		if !unicode.IsPrint(r) {
			nasty.WriteRune(r)
		}
	}
	for _, r := range nasty.String() {
		v := "x" + string(r) + "y"
		got := checkOnly(t, s, text(t, map[string]any{v: 1, "schema": v, "issued_at": v, "cost": map[string]any{"currency": v}}))
		quoted := 0
		for _, p := range got.Problems {
			if strings.ContainsFunc(p.Detail, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("U+%04X: %q", r, p.Detail)
			}
			if strings.Contains(p.Detail, `"x\`) {
				quoted++
			}
		}
		if quoted != 1 {
			t.Errorf("U+%04X: %d of 1 quoted", r, quoted)
		}
	}
}

func TestLongNames(t *testing.T) {
	s := must(t, schemas.Receipt)
	name := strings.Repeat("n", 1<<20)
	got := checkOnly(t, s, text(t, put(fullReceipt(t), []string{"chain", name}, number("1"))))
	want := []schemas.Problem{{"/chain", "additionalProperties", "unknown member " + fmt.Sprintf("%q…", name[:64])}}
	if !reflect.DeepEqual(got.Problems, want) {
		t.Errorf("%.200q", fmt.Sprint(got.Problems))
	}
}

func TestCheckOfNothing(t *testing.T) {
	want := schemas.Result{[]schemas.Problem{{"", "type", "expected a document, found none"}}, 1}
	if got := must(t, schemas.Receipt).Check(canon.Node{}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// TestCheckOfPart verifies that pointers are relative to the checked value.
func TestCheckOfPart(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"receipts": [{}, {"schema": 1, "approvals": [1]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	pointer, err := canon.ParsePointer("/receipts/1")
	if err != nil {
		t.Fatal(err)
	}
	part, _ := doc.Find(pointer)
	got := must(t, schemas.Receipt).Check(part)
	var at []string
	for _, p := range got.Problems {
		if p.Keyword != "required" {
			at = append(at, p.Pointer)
		}
	}
	if !slices.Equal(at, []string{"/approvals/0", "/schema"}) || got.Total != 14+2 {
		t.Errorf("%q, %d", at, got.Total)
	}
}
