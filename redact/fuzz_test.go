package redact_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
	"github.com/receiptkit/receiptkit/schemas"
)

// FuzzRedact verifies, for any draft, that the result can be parsed, is canonical, and does not
// change when it is redacted again. The result must have an entry for each changed value, and must
// be valid if the draft was valid. Neither the result nor an error may contain a planted secret.
func FuzzRedact(f *testing.F) {
	f.Add([]byte(fullDraft(f)), uint8(0))
	f.Add([]byte(draft(f, "metadata", `{"password":"x","url":"https://u:p@h/?token=k-1234567","k-1234567":[{"log":"k-1234567 \\u006b-1234567 %6b-1234567"}]}`)), uint8(1))
	f.Add([]byte(`{"redactions":[{"field":"/metadata/a","reason":"name","proof_hash":"`+digest("k-1234567")+`"}],"metadata":{"pin":1,"pin_hash":"`+digest("1")+`","x":"[redacted] <redacted:k:12> k-1234567"}}`), uint8(2))
	f.Add([]byte(`{"deltas":[{"path":"/metadata/pin","before_sha256":"`+digest("1")+`"}],"metadata":{"headers":{"X-Key":"1"},"pin":1}}`), uint8(2))
	f.Add([]byte(`{"metadata":{"":{"/":{"~":["x"]}}}}`), uint8(2))
	files, err := filepath.Glob("../fixtures/valid/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint8(i))
		d := parse(f, string(text))
		root := d.Root()
		f.Add(d.AppendCanonical(nil, root.Member("signatures"), root.Member("chain").Member("receipt_hash")), uint8(i))
	}
	policies := fuzzPolicies(f)
	schema := receiptSchema(f)
	f.Fuzz(func(t *testing.T, data []byte, choice uint8) {
		d, err := canon.Parse(data)
		if err != nil || len(data) > 1<<16 {
			return
		}
		p := policies[int(choice)%len(policies)]
		r, err := p.Redact(d, newSalts())
		if err != nil {
			var refused *redact.RefusedError
			if !errors.As(err, &refused) || r != nil || refused.Total == 0 {
				t.Fatal(err)
			}
			return
		}
		checkResult(t, p, schema, d, r)
	})
}

// FuzzText verifies the same properties as FuzzRedact for a draft with a given name and two given
// strings.
func FuzzText(f *testing.F) {
	f.Add("pin", "https://u:p@h/?token=x#a=b", "k-1234567", uint8(0))
	f.Add("headers", `{\"a\":\"\u006b-1234567\"} %6b-1234567 pw=k-1`, "xxxyyy zq zzqq", uint8(1))
	f.Add("k-1", "//a@b://c:d/e@f;token=g?sig=<redacted:k:1>&jwt=%5Bredacted%5D", "[redacted][withheld]<redacted:pair>", uint8(2))
	f.Add("password", "Authorization: Basic dXNlcjpwYXNzd29yZDE= -----BEGIN PRIVATE KEY-----\\nMIIE", "ghp_"+strings.Repeat("aB3", 12), uint8(4))
	f.Add("mcp__k-1__x", "mcp__a__k-1__b mcp__k-1 mcp____k-1__", "mcp__mcp__k-1", uint8(2))
	policies := fuzzPolicies(f)
	schema := receiptSchema(f)
	template := parse(f, fullDraft(f)).AppendCanonical(nil)
	f.Fuzz(func(t *testing.T, name, text, other string, choice uint8) {
		if !utf8.ValidString(name+text+other) || !utf8.ValidString(name) || !utf8.ValidString(text) || name == other {
			return
		}
		quoted := func(s string) string { return string(canon.AppendString(nil, s)) }
		metadata := `"metadata":{` + quoted(name) + `:{` + quoted(name) + `:` + quoted(text) + `,"list":[` + quoted(other) + `,{` + quoted(other+"!") + `:` + quoted(digest(text)) + `}]}}`
		in := bytes.ReplaceAll(template, []byte(`"metadata":{"a":1}`), []byte(metadata))
		if text != "" {
			in = bytes.ReplaceAll(in, []byte(`"artifact://m"`), []byte(quoted(text)))
		}
		d, err := canon.Parse(in)
		if err != nil {
			return // a name twice
		}
		p := policies[int(choice)%len(policies)]
		r, err := p.Redact(d, newSalts())
		if err != nil {
			t.Fatalf("%v\nof %s", err, in)
		}
		checkResult(t, p, schema, d, r)
	})
}

func fuzzPolicies(f *testing.F) []*redact.Policy {
	detectors := []secret.Detector{kDigits(), {Name: "pair", Pattern: `(?i)pw[=:]\S+`}, {Name: "word", Pattern: `\b[xy]{3,}\b`}, {Name: "edge", Pattern: `^z|q$`}}
	mine := redact.Rules{Names: []string{"pin", "*word"}, Headers: true, URLs: redact.URLsAnywhere, Detectors: detectors,
		Pointers: []string{"/metadata/**/note", "/side_effects/*/*/metadata", "/deltas", "/**/a/0"}}
	policies := []*redact.Policy{compile(f, mine), compile(f, redact.Rules{Names: []string{"pin", "x"}, URLs: redact.URLsWhole, Pointers: []string{"/metadata/*/*"}, Detectors: detectors})}
	for _, rules := range []redact.Rules{redact.Upstream(), redact.Default(), redact.Strict()} {
		rules.Detectors = append(detectors[:1:1], rules.Detectors...)
		policies = append(policies, compile(f, rules))
	}
	return policies
}

func checkResult(t *testing.T, p *redact.Policy, schema *schemas.Schema, d *canon.Document, r *redact.Result) {
	t.Helper()
	left := parse(t, string(r.Draft.Source()))
	if !left.IsCanonical() {
		t.Fatalf("not canonical: %s", r.Draft.Source())
	}
	again(t, p, r)
	if problems(t, schema, d.AppendCanonical(nil)) == "" && problems(t, schema, r.Draft.Source()) != "" {
		t.Fatalf("%s\nin %s", problems(t, schema, r.Draft.Source()), r.Draft.Source())
	}
	found := p.Find(d)
	if len(found) != len(r.Entries) || len(r.Disclosures.Fields) != len(r.Entries) {
		t.Fatalf("%d findings, %d entries, %d disclosures", len(found), len(r.Entries), len(r.Disclosures.Fields))
	}
	for i, e := range r.Entries {
		value, ok := d.Find(pointer(t, e.Field))
		if !ok || string(r.Disclosures.Fields[i].Value) != string(value.AppendCanonical(nil)) || found[i] != (redact.Finding{Pointer: e.Field, Rule: e.Reason}) {
			t.Fatalf("entry %d, %s, is not of the draft", i, e.Field)
		}
		if now, ok := left.Find(pointer(t, e.Field)); ok && bytes.Equal(now.AppendCanonical(nil), value.AppendCanonical(nil)) {
			t.Fatalf("%s is not withheld", e.Field)
		}
	}
	if err := r.Disclosures.Check(left); err != nil {
		t.Fatal(err)
	}
	checkStrings(t, left.Root())
}

// checkStrings searches for the planted secret without using the package under test.
func checkStrings(t *testing.T, n canon.Node) {
	t.Helper()
	const planted = "k-1234567"
	if strings.Contains(n.String(), planted) {
		t.Fatalf("a secret remains at %s", n.Pointer())
	}
	for name, v := range n.Members() {
		if strings.Contains(name.String(), planted) {
			t.Fatalf("a secret remains in a name at %s", v.Pointer())
		}
		checkStrings(t, v)
	}
	for _, v := range n.Elements() {
		checkStrings(t, v)
	}
}

// FuzzDisclosures verifies that parsed disclosures can be written and parsed again with the same
// result. The schema and the parser must accept the same files, except where the schema cannot
// express a rule.
func FuzzDisclosures(f *testing.F) {
	f.Add([]byte(`{"disclosures_version":1,"receipt_hash":null,"fields":[]}`))
	f.Add([]byte(`{"disclosures_version":1.0,"receipt_hash":"` + digest("x") + `","fields":[{"field":"/a~1b/","salt":"00112233445566778899aabbccddeeff","value":{"b":1.50,"a":[null]}}]}`))
	f.Add([]byte(`{"disclosures_version":1,"receipt_hash":null,"fields":[{"field":"","salt":"00","value":1},{"field":"/~","salt":"00112233445566778899AABBCCDDEEFF","value":1}]}`))
	schema, err := schemas.Compile("disclosures")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := redact.ParseDisclosures(data)
		if err != nil {
			if d != nil {
				t.Fatal("disclosures with an error")
			}
			return
		}
		file := d.Marshal()
		doc := parse(t, string(file))
		if found := schema.Check(doc.Root()); found.Total != 0 {
			t.Fatalf("%v", found.Problems)
		}
		if !bytes.Equal(append(doc.AppendCanonical(nil), '\n'), file) || !bytes.Equal(append(parse(t, string(data)).AppendCanonical(nil), '\n'), file) {
			t.Fatalf("%s\nwas written for\n%s", file, data)
		}
		second, err := redact.ParseDisclosures(file)
		if err != nil || !bytes.Equal(second.Marshal(), file) {
			t.Fatal(err)
		}
	})
}
