package redact_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/schemas"
)

// TestCommitment verifies that a commitment matches one that was computed by hand.
func TestCommitment(t *testing.T) {
	const salt = "00112233445566778899aabbccddeeff"
	want := sha256.Sum256([]byte("receipt-redaction-v1\n" + `{"field":"/a\"é","salt":"` + salt + `","value":{"b":[1,null]}}`))
	d := redact.Disclosure{Field: "/a\"é", Salt: salt, Value: []byte(`{"b":[1,null]}`)}
	if got := d.Commitment(); got != canon.Digest(want) {
		t.Error(got)
	}
}

// sealedWith redacts and seals a draft that contains a PIN and a note.
func sealedWith(t *testing.T) (*canon.Document, *redact.Disclosures) {
	t.Helper()
	r, err := compile(t, redact.Rules{Names: []string{"pin", "note", "same"}}).Redact(
		parse(t, draft(t, "metadata", `{"pin":1234,"note":{"a":["b",1.50]},"same":1234}`)), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := receipt.SealDocument(parse(t, string(r.Draft.Source())), chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	doc := parse(t, string(sealed.JSON()))
	hash, err := chain.Hash(doc)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := r.Disclosures.Bind(hash)
	if err != nil {
		t.Fatal(err)
	}
	return doc, bound
}

// TestRoundTrip verifies that a draft can be redacted and sealed, and that its disclosures can be
// bound, written, parsed, selected, and checked.
func TestRoundTrip(t *testing.T) {
	doc, all := sealedWith(t)
	if len(all.Fields) != 3 || all.Fields[0].Field != "/metadata/note" || string(all.Fields[0].Value) != `{"a":["b",1.5]}` {
		t.Fatalf("%v", all.Fields)
	}
	// Two occurrences of the same value must have different commitments.
	if all.Fields[1].Commitment() == all.Fields[2].Commitment() || string(all.Fields[1].Value) != string(all.Fields[2].Value) {
		t.Error("one commitment for two fields")
	}
	schema, err := schemas.Compile("disclosures")
	if err != nil {
		t.Fatal(err)
	}
	for _, choice := range [][]string{{"/metadata/pin"}, {"/metadata/same", "/metadata/pin", "/metadata/pin"}, {}, {"/metadata/note", "/metadata/pin", "/metadata/same"}} {
		some, err := all.Select(choice...)
		if err != nil {
			t.Fatal(err)
		}
		file := some.Marshal()
		if found := schema.Check(parse(t, string(file)).Root()); found.Total != 0 {
			t.Errorf("%v", found.Problems)
		}
		read, err := redact.ParseDisclosures(file)
		if err != nil || string(read.Marshal()) != string(file) || read.ReceiptHash != all.ReceiptHash {
			t.Errorf("%v: %s", err, file)
		}
		if err := read.Check(doc); err != nil {
			t.Error(err)
		}
		if len(choice) == 1 && (strings.Contains(string(file), "note") || len(read.Fields) != 1) {
			t.Errorf("%s", file)
		}
	}
	var unknown *redact.DisclosureError
	if some, err := all.Select("/metadata/pin", "/metadata/x"); some != nil || !errors.As(err, &unknown) || unknown.Field != "/metadata/x" || unknown.Code != "disclosure_unknown" {
		t.Error(err)
	}
}

// TestBind verifies that bound disclosures belong to only one receipt.
func TestBind(t *testing.T) {
	doc, all := sealedWith(t)
	other := canon.Sum([]byte("x"))
	if d, err := all.Bind(other); d != nil || err == nil || err.Error() != fmt.Sprintf("redact: the disclosures belong to the receipt %v, not to %v", all.ReceiptHash, other) {
		t.Error(err)
	}
	if d, err := all.Bind(canon.Digest{}); d != nil || err == nil || !strings.Contains(err.Error(), "no hash") {
		t.Error(err)
	}
	if d, err := all.Bind(all.ReceiptHash); err != nil || d.ReceiptHash != all.ReceiptHash {
		t.Error(err)
	}
	all.ReceiptHash = canon.Digest{} // if no receipt is bound, only the commitments are compared
	if err := all.Check(doc); err != nil {
		t.Error(err)
	}
	all.ReceiptHash = other
	if err := all.Check(doc); err == nil || !strings.Contains(err.Error(), "belong to the receipt") {
		t.Error(err)
	}
	if err := all.Check(parse(t, `{"redactions":[]}`)); err == nil || !strings.Contains(err.Error(), "no hash") {
		t.Error(err)
	}
}

// TestFitting verifies which values of unbound disclosures belong to a receipt. An integer that a
// commitment cannot distinguish from its neighbors belongs to the receipt too, so that it is
// reported.
func TestFitting(t *testing.T) {
	doc, all := sealedWith(t)
	if got := all.Fitting(doc); len(got) != 0 {
		t.Errorf("bound disclosures: %v", got)
	}

	all.ReceiptHash = canon.Digest{}
	all.Fields[1].Value = []byte(`1235`)
	if got := all.Fitting(doc); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("%v", got)
	}
	all.Fields[0].Salt = strings.ToUpper(all.Fields[0].Salt) + "A"
	if got := all.Fitting(doc); !slices.Equal(got, []int{2}) {
		t.Errorf("with an invalid salt: %v", got)
	}

	d := redact.Disclosure{Field: "/metadata/a", Salt: strings.Repeat("12", 16), Value: []byte(`9007199254740992`)}
	doc = parse(t, fmt.Sprintf(`{"redactions":[{"field":"/metadata/a","proof_hash":%q}]}`, d.Commitment()))
	d.Value = []byte(`9007199254740993`)
	if got := (&redact.Disclosures{Fields: []redact.Disclosure{d}}).Fitting(doc); !slices.Equal(got, []int{0}) {
		t.Errorf("the neighbor of an integer: %v", got)
	}
}

// TestCheckRefuses verifies that invalid disclosures are rejected (number 216 and others).
func TestCheckRefuses(t *testing.T) {
	doc, _ := sealedWith(t)
	digest := regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	for _, c := range []struct {
		name   string
		change func(d *redact.Disclosures)
		want   string // type and field of the expected error
	}{
		{"another value", func(d *redact.Disclosures) { d.Fields[1].Value = []byte(`1235`) }, "mismatch /metadata/pin"},
		{"another salt", func(d *redact.Disclosures) { d.Fields[1].Salt = strings.Repeat("12", 16) }, "mismatch /metadata/pin"},
		{"of another field", func(d *redact.Disclosures) {
			f := d.Fields
			f[1].Field, f[2].Field = f[2].Field, f[1].Field
		}, "mismatch /metadata/same"},
		{"unknown", func(d *redact.Disclosures) { d.Fields[1].Field = "/metadata/x" }, "unknown /metadata/x"},
		{"without proof", func(d *redact.Disclosures) { d.Fields[1].Field = "/replay_input/materials/0/content" }, "unknown /replay_input/materials/0/content"},
		{"salt twice", func(d *redact.Disclosures) { d.Fields[1].Salt = d.Fields[0].Salt }, "format /fields/1/salt"},
		{"short salt", func(d *redact.Disclosures) { d.Fields[1].Salt = d.Fields[1].Salt[2:] }, "format /fields/1/salt"},
		{"empty salt", func(d *redact.Disclosures) { d.Fields[1].Salt = "" }, "format /fields/1/salt"},
		{"zero salt", func(d *redact.Disclosures) { d.Fields[1].Salt = strings.Repeat("0", 32) }, "format /fields/1/salt"},
		{"upper salt", func(d *redact.Disclosures) { d.Fields[1].Salt = strings.Repeat("A", 32) }, "format /fields/1/salt"},
		{"field twice", func(d *redact.Disclosures) { d.Fields[1].Field = d.Fields[0].Field }, "format /fields/1/field"},
		{"no pointer", func(d *redact.Disclosures) { d.Fields[1].Field = "metadata" }, "format /fields/1/field"},
		{"whole document", func(d *redact.Disclosures) { d.Fields[1].Field = "" }, "format /fields/1/field"},
	} {
		var all *redact.Disclosures
		doc, all = sealedWith(t)
		c.change(all)
		err := all.Check(doc)
		var wrong *redact.DisclosureError
		got := ""
		switch {
		case errors.As(err, &wrong):
			got = strings.TrimPrefix(wrong.Code, "disclosure_") + " " + wrong.Field
			if (wrong.Stated == wrong.Computed) != (wrong.Code == "disclosure_unknown") {
				t.Errorf("%+v", wrong)
			}
		case err != nil:
			_, at, _ := strings.Cut(err.Error(), ` at "`)
			got = "format " + strings.TrimSuffix(at, `"`)
		}
		if got != c.want && !(c.name == "of another field" && strings.HasPrefix(got, "mismatch")) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if err != nil {
			text := digest.ReplaceAllString(err.Error(), "") // a digest may happen to contain the digits of any value
			if strings.Contains(text, "1234") || strings.Contains(text, "1235") {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	_, all := sealedWith(t)
	all.Fields[0].Value, all.Fields[1].Value = []byte("1"), []byte("2")
	if err := all.Check(doc); err == nil {
		t.Error("disclosures of another receipt fit")
	}
}

// TestParseRefuses verifies that invalid disclosure files are rejected, and that no error quotes
// them.
func TestParseRefuses(t *testing.T) {
	const good = `{"disclosures_version":1,"receipt_hash":null,"fields":[{"field":"/a","salt":"00112233445566778899aabbccddeeff","value":"hunter2"}]}`
	if d, err := redact.ParseDisclosures([]byte(" " + good + "\n")); err != nil || string(d.Fields[0].Value) != `"hunter2"` {
		t.Error(err)
	}
	for old, change := range map[string][2]string{
		good:                       {``, "redact: the disclosures are malformed: line 1, column 1: expected JSON: empty_input"},
		`"hunter2"`:                {`hunter2`, "redact: the disclosures are malformed: line 1, column 120: expected JSON: syntax"},
		`"value"`:                  {`"hunter2":1,"value"`, `redact: the disclosures are malformed: expected only the members ["field" "salt" "value"] at "/fields/0"`},
		`,"value":"hunter2"`:       {``, `redact: the disclosures are malformed: expected the member "value" at "/fields/0"`},
		`_version":1`:              {`_version":2`, `redact: the disclosures are malformed: expected 1 at "/disclosures_version"`},
		`"receipt_hash":null,`:     {`"hunter2":{"hunter2":1,"hunter2":2},`, "redact: the disclosures are malformed: line 1, column 49: expected JSON: duplicate_name"},
		`null`:                     {`"hunter2"`, `redact: the disclosures are malformed: expected a digest or null at "/receipt_hash"`},
		`null,`:                    {`"sha256:` + strings.Repeat("0", 64) + `",`, `redact: the disclosures are malformed: expected a digest or null at "/receipt_hash"`},
		`"fields":[`:               {`"fields":1,"x":[`, `redact: the disclosures are malformed: expected only the members ["disclosures_version" "fields" "receipt_hash"]`},
		`eeff`:                     {`eefg`, `redact: the disclosures are malformed: expected 32 lowercase hexadecimal digits that are not all 0 at "/fields/0/salt"`},
		`"/a"`:                     {`7`, `redact: the disclosures are malformed: expected a non-empty JSON Pointer (RFC 6901) at "/fields/0/field"`},
		`{"field"`:                 {`"hunter2",{"field"`, `redact: the disclosures are malformed: expected an object at "/fields/0"`},
		`[{"field"`:                {`[{"field":"/a","salt":"10112233445566778899aabbccddeeff","value":1},{"field"`, `redact: the disclosures are malformed: the field already has a disclosure at "/fields/1/field"`},
		`:[{"field":"/a"`:          {`:[{"field":"/b","salt":"00112233445566778899aabbccddeeff","value":1},{"field":"/a"`, `redact: the disclosures are malformed: the salt is that of another field at "/fields/1/salt"`},
		`{"disclosures_version":1`: {`[{"disclosures_version":1`, "redact: the disclosures are malformed: line 1, column 133: expected JSON: syntax"},
	} {
		text := strings.Replace(good, old, change[0], 1)
		d, err := redact.ParseDisclosures([]byte(text))
		if d != nil || err == nil || err.Error() != change[1] {
			t.Errorf("%s\n%v\nwant %s", text, err, change[1])
		}
	}
	if d, err := redact.ParseDisclosures([]byte(`[]`)); d != nil || err == nil {
		t.Error(err)
	}
}

// TestPrecision verifies that an integer is neither withheld nor accepted as disclosed if a
// commitment cannot distinguish it from other integers.
func TestPrecision(t *testing.T) {
	const file = `{"disclosures_version":1,"receipt_hash":null,"fields":[{"field":"/a","salt":"00112233445566778899aabbccddeeff","value":%s}]}`
	for value, lossy := range map[string]bool{
		"9007199254740991": false, "9007199254740992": true, "9007199254740993": true, "-9007199254740993.0": true,
		`{"x":[1e300]}`: true, `"9007199254740993"`: false, "0.5": false, "9007199254740990.5": false,
	} {
		var precision *redact.DisclosureError
		d, err := redact.ParseDisclosures(fmt.Appendf(nil, file, value))
		if lossy != errors.As(err, &precision) || lossy && (d != nil || precision.Field != "/a" || strings.Contains(err.Error(), value)) {
			t.Errorf("%s is read: %v", value, err)
		}
		var refused *redact.RefusedError
		r, err := compile(t, redact.Rules{Names: []string{"account"}}).Redact(parse(t, draft(t, "metadata", `{"account":`+value+`,"kept":9007199254740993}`)), newSalts())
		if lossy != errors.As(err, &refused) || lossy && (r != nil || refused.Problems[0].Code != redact.CodePrecision || refused.Problems[0].Pointer != "/metadata/account") {
			t.Errorf("%s is withheld: %v", value, err)
		}
	}
}

// TestSalts verifies that a source of salts is rejected if it is not random (number 216).
func TestSalts(t *testing.T) {
	p := compile(t, redact.Rules{Pointers: []string{"/metadata/**"}})
	d := parse(t, `{"metadata":{"a":1,"b":2}}`)
	for name, source := range map[string]io.Reader{
		"empty":     strings.NewReader(""),
		"short":     strings.NewReader(strings.Repeat("x", 17)),
		"repeating": strings.NewReader(strings.Repeat("x", 32)),
		"zeros":     strings.NewReader(strings.Repeat("\x00", 32)),
		"failing":   iotest.ErrReader(errors.New("broken")),
	} {
		if r, err := p.Redact(d, source); r != nil || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, err := p.Redact(d, iotest.OneByteReader(strings.NewReader("0123456789abcdef0123456789abcdeg")))
	if err != nil || r.Disclosures.Fields[0].Salt != "30313233343536373839616263646566" {
		t.Errorf("%v, %v", r, err)
	}
	// No salt is read if there is nothing to withhold.
	if _, err := p.Redact(parse(t, `{}`), iotest.ErrReader(errors.New("broken"))); err != nil {
		t.Error(err)
	}
}

// TestPrinting verifies that no result from this package prints a value or a salt, in any format,
// as JSON, or in a panic (number 224).
func TestPrinting(t *testing.T) {
	d := &redact.Disclosures{Fields: []redact.Disclosure{{Field: "/a", Salt: "5a17", Value: []byte("hunter2")}}}
	r := redact.Result{Disclosures: d}
	p := compile(t, redact.Default())
	doc := parse(t, `{"metadata":{"password":"hunter2"},"issuer":{"password":"hunter2"}}`)
	_, refused := p.Redact(doc, newSalts())
	if refused == nil {
		t.Fatal("a protected member was withheld")
	}
	values := []any{d, *d, d.Fields, d.Fields[0], &d.Fields[0], map[string]redact.Disclosure{"x": d.Fields[0]}, struct{ D any }{d.Fields[0]}, r, &r,
		p, *p, p.Find(doc), refused, d.Check(doc), errors.Join(refused, d.Check(doc)), fmt.Errorf("wrapped: %w", refused)}
	hidden := func(how, text string) {
		t.Helper()
		for _, s := range []string{"hunter2", "104, 117", "104 117", "104,117", "0x68", "0x75", "68756e", "5a17", "aHVudGVy", "1101000 1110101", "150 165"} {
			if strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
				t.Errorf("%s: %.300s", how, text)
			}
		}
	}
	for _, v := range values {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%c", "%o", "%b", "%U"} {
			if _, isPolicy := v.(*redact.Policy); isPolicy && format != "%v" {
				continue // a policy contains no values, but thousands of pointers and patterns
			}
			if _, isPolicy := v.(redact.Policy); isPolicy {
				continue
			}
			hidden(fmt.Sprintf("%s of %T", format, v), fmt.Sprintf(format, v))
		}
		if text, err := json.Marshal(v); err == nil {
			hidden(fmt.Sprintf("JSON of %T", v), string(text))
		}
		func() {
			defer func() { hidden(fmt.Sprintf("panic with %T", v), fmt.Sprint(recover())) }()
			panic(v)
		}()
	}
}
