package receipt_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// counter yields a different salt for each call, and the same sequence in every run.
type counter struct{ n byte }

func (c *counter) Read(b []byte) (int, error) {
	c.n++
	sum := sha256.Sum256([]byte{c.n})
	return copy(b, sum[:]), nil
}

// redacted seals a draft from which two values were withheld.
func redacted(t *testing.T) (sealed []byte, secret *redact.Disclosures) {
	t.Helper()
	d := plainDraft()
	d.Metadata = receipt.Object{"pin": "1234", "note": "call back", "kept": "yes"}
	plain, err := receipt.Seal(d, chain.Head{}) // used only to convert the draft to JSON
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse(plain.JSON())
	if err != nil {
		t.Fatal(err)
	}
	draft, err := canon.Parse(doc.AppendCanonical(nil, doc.Root().Member("chain"), doc.Root().Member("signatures")))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := redact.Rules{Name: "test", Pointers: []string{"/metadata/pin", "/metadata/note"}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	r, err := policy.Redact(draft, new(counter))
	if err != nil {
		t.Fatal(err)
	}
	if draft, err = canon.Parse(r.Draft.Source()); err != nil {
		t.Fatal(err)
	}
	s, err := receipt.SealDocument(draft, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := r.Disclosures.Bind(s.Hash())
	if err != nil {
		t.Fatal(err)
	}
	return s.JSON(), bound
}

func TestDisclosures(t *testing.T) {
	sealed, all := redacted(t)
	if bytes.Contains(sealed, []byte("1234")) || bytes.Contains(sealed, []byte("call back")) {
		t.Fatalf("%s", sealed)
	}
	one, err := all.Select("/metadata/pin")
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(d *redact.Disclosures)) *redact.Disclosures {
		c := &redact.Disclosures{ReceiptHash: all.ReceiptHash, Fields: bytesCloned(all.Fields)}
		f(c)
		return c
	}
	unbound := change(func(d *redact.Disclosures) { d.ReceiptHash = canon.Digest{} })
	other := change(func(d *redact.Disclosures) { d.ReceiptHash = canon.Sum(nil) })
	for name, c := range map[string]struct {
		given   []*redact.Disclosures
		verdict receipt.Verdict
		status  receipt.Status
		code    receipt.Code
	}{
		"none":           {nil, receipt.Verified, receipt.StatusNotChecked, "redactions_not_checked"},
		"all":            {[]*redact.Disclosures{all}, receipt.Verified, receipt.StatusPassed, ""},
		"one":            {[]*redact.Disclosures{one}, receipt.Verified, receipt.StatusPassed, ""},
		"unbound":        {[]*redact.Disclosures{unbound}, receipt.Verified, receipt.StatusPassed, ""},
		"another's":      {[]*redact.Disclosures{other}, receipt.Undecided, receipt.StatusNotChecked, "disclosure_unbound"},
		"another's, one": {[]*redact.Disclosures{other, one}, receipt.Verified, receipt.StatusPassed, ""},
		"empty":          {[]*redact.Disclosures{{ReceiptHash: all.ReceiptHash}}, receipt.Verified, receipt.StatusNotChecked, "redactions_not_checked"},
		"other value":    {[]*redact.Disclosures{change(func(d *redact.Disclosures) { d.Fields[0].Value = []byte(`"4321"`) })}, receipt.Refuted, receipt.StatusFailed, "disclosure_mismatch"},
		"other salt":     {[]*redact.Disclosures{change(func(d *redact.Disclosures) { d.Fields[0].Salt = "0123456789abcdef0123456789abcdef" })}, receipt.Refuted, receipt.StatusFailed, "disclosure_mismatch"},
		"short salt":     {[]*redact.Disclosures{change(func(d *redact.Disclosures) { d.Fields[0].Salt = "01" })}, receipt.Refuted, receipt.StatusFailed, "disclosure_mismatch"},
		"reused salt":    {[]*redact.Disclosures{change(func(d *redact.Disclosures) { d.Fields[0].Salt = d.Fields[1].Salt })}, receipt.Refuted, receipt.StatusFailed, "disclosure_mismatch"},
		"values swapped": {[]*redact.Disclosures{change(func(d *redact.Disclosures) {
			d.Fields[0].Value, d.Fields[1].Value = d.Fields[1].Value, d.Fields[0].Value
		})}, receipt.Refuted, receipt.StatusFailed, "disclosure_mismatch"},
		"unknown field":   {[]*redact.Disclosures{change(func(d *redact.Disclosures) { d.Fields[0].Field = "/metadata/kept" })}, receipt.Refuted, receipt.StatusFailed, "disclosure_unknown"},
		"one good of two": {[]*redact.Disclosures{one, change(func(d *redact.Disclosures) { d.Fields[1].Value = []byte(`1`) })}, receipt.Refuted, receipt.StatusFailed, "disclosure_mismatch"},
	} {
		v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if c.given != nil {
			if v, err = v.With(receipt.Evidence{Disclosures: c.given}); err != nil {
				t.Fatal(err)
			}
		}
		rep := new(receipt.Report)
		v.VerifyBytes(sealed, new(canon.Document), rep)
		if got := rep.Check(receipt.StepRedactions); rep.Verdict != c.verdict || got.Status != c.status || got.Code != c.code {
			t.Errorf("%s: %v, %v %s; want %v, %v %s", name, rep.Verdict, got.Status, got.Code, c.verdict, c.status, c.code)
		}
		// An altered receipt is refuted regardless of the disclosures.
		v.VerifyBytes(bytes.Replace(sealed, []byte(`"yes"`), []byte(`"no"`), 1), new(canon.Document), rep)
		if rep.Verdict != receipt.Refuted || rep.Finding().Code != receipt.CodeHashMismatch {
			t.Errorf("%s, altered: %v", name, rep.Finding())
		}
	}
	if _, err := (&receipt.Verifier{}).With(receipt.Evidence{Disclosures: []*redact.Disclosures{nil}}); err == nil {
		t.Error("nil disclosures are taken")
	}
}

// TestTwoCommitmentsOfOneField verifies that two commitments for one field cause a warning, because
// the issuer could disclose a different value to each reader. With both disclosures, the receipt is
// refuted.
func TestTwoCommitmentsOfOneField(t *testing.T) {
	one := redact.Disclosure{Field: "/metadata/paid", Salt: "00112233445566778899aabbccddeeff", Value: []byte("100")}
	two := redact.Disclosure{Field: "/metadata/paid", Salt: "10112233445566778899aabbccddeeff", Value: []byte("999")}
	again := redact.Disclosure{Field: "/metadata/paid", Salt: "20112233445566778899aabbccddeeff", Value: []byte("100")}
	for name, c := range map[string]struct {
		committed, shown []redact.Disclosure
		verdict          receipt.Verdict
		code             receipt.Code
		warned           bool
	}{
		"one":                {[]redact.Disclosure{one}, []redact.Disclosure{one}, receipt.Verified, "", false},
		"the same twice":     {[]redact.Disclosure{one, one}, []redact.Disclosure{one, one}, receipt.Verified, "", false},
		"two, none shown":    {[]redact.Disclosure{one, two}, nil, receipt.Verified, "", true},
		"two, the first":     {[]redact.Disclosure{one, two}, []redact.Disclosure{one}, receipt.Verified, "", true},
		"two, the second":    {[]redact.Disclosure{one, two}, []redact.Disclosure{two}, receipt.Verified, "", true},
		"two, both":          {[]redact.Disclosure{one, two}, []redact.Disclosure{one, two}, receipt.Refuted, "disclosure_mismatch", true},
		"two, both, turned":  {[]redact.Disclosure{one, two}, []redact.Disclosure{two, one}, receipt.Refuted, "disclosure_mismatch", true},
		"one value, salted ": {[]redact.Disclosure{one, again}, []redact.Disclosure{one, again}, receipt.Verified, "", true},
	} {
		d := plainDraft()
		for _, f := range append([]redact.Disclosure{{Field: "/metadata/other", Salt: one.Salt, Value: []byte("1")}}, c.committed...) {
			proof := f.Commitment()
			d.Redactions = append(d.Redactions, receipt.Redaction{Field: f.Field, Reason: "test", ProofHash: proof})
		}
		var given []*redact.Disclosures
		for _, f := range c.shown {
			given = append(given, &redact.Disclosures{Fields: []redact.Disclosure{f}})
		}
		rep := disclosed(t, sealAndSign(t, d), given)
		warned := len(rep.Warnings) == 1 && rep.Warnings[0].Code == "repeated_field" && rep.Warnings[0].Pointer == "/redactions/2/field"
		if rep.Verdict != c.verdict || rep.Finding().Code != c.code || warned != c.warned || !warned && len(rep.Warnings) > 0 {
			t.Errorf("%s: %v %s, warnings %v; want %v %s, warned %v", name, rep.Verdict, rep.Finding().Code, rep.Warnings, c.verdict, c.code, c.warned)
		}
	}
}

// TestProtectedCommitment verifies that a receipt that lists a protected member as withheld
// gets a warning.
func TestProtectedCommitment(t *testing.T) {
	for field, warned := range map[string]bool{
		"/receipt_id": true, "/issuer": true, "/issuer/name": true, "/chain/receipt_hash": true, "/lifecycle": true, "/lifecycle/final_state": true, "": true,
		"/lifecycle/failure": false, "/receipt_ids": false, "/metadata/receipt_id": false, "/cost/total": false, "/nowhere/x": false,
	} {
		if got := redact.Protected([]byte(field)); got != warned {
			t.Errorf("%q: protected %v", field, got)
		}
		if field == "" {
			continue // the schema rejects such a receipt
		}
		d := plainDraft()
		d.Redactions = []receipt.Redaction{{Field: "/metadata/x", Reason: "test"}, {Field: field, Reason: "test", ProofHash: canon.Sum(nil)}}
		rep := disclosed(t, sealAndSign(t, d), nil)
		if got := len(rep.Warnings) == 1 && rep.Warnings[0].Code == "protected_field" && rep.Warnings[0].Pointer == "/redactions/1/field"; got != warned || rep.Verdict != receipt.Verified {
			t.Errorf("%q: %v, %v", field, rep.Verdict, rep.Warnings)
		}
	}
}

// TestDisclosedPrecision verifies that a disclosed integer is refuted if a double cannot represent
// it, because neighboring integers have the same commitment.
func TestDisclosedPrecision(t *testing.T) {
	for value, want := range map[string]receipt.Code{
		"9007199254740991":           "",
		"-9007199254740991":          "",
		"9007199254740992":           receipt.CodeNumberPrecision,
		"9007199254740993":           receipt.CodeNumberPrecision,
		"-9007199254740992":          receipt.CodeNumberPrecision,
		"1e+300":                     receipt.CodeNumberPrecision,
		`{"a":[1,9007199254740992]}`: receipt.CodeNumberPrecision,
		`"9007199254740993"`:         "",
	} {
		shown := redact.Disclosure{Field: "/metadata/id", Salt: "00112233445566778899aabbccddeeff", Value: []byte(value)}
		committed, err := canon.Transform([]byte(value)) // the value that a reader would compute
		if err != nil {
			t.Fatal(err)
		}
		proof := redact.Disclosure{Field: shown.Field, Salt: shown.Salt, Value: committed}.Commitment()
		d := plainDraft()
		d.Redactions = []receipt.Redaction{{Field: shown.Field, Reason: "test", ProofHash: proof}}
		rep := disclosed(t, sealAndSign(t, d), []*redact.Disclosures{{Fields: []redact.Disclosure{shown}}})
		if rep.Finding().Code != want || (rep.Verdict == receipt.Refuted) != (want != "") {
			t.Errorf("%s: %v %s, want %q", value, rep.Verdict, rep.Finding().Code, want)
		}
	}
}

// disclosed verifies only the integrity of a receipt, together with disclosures.
func disclosed(t *testing.T, sealed []byte, given []*redact.Disclosures) *receipt.Report {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if v, err = v.With(receipt.Evidence{Disclosures: given}); err != nil {
		t.Fatal(err)
	}
	rep := new(receipt.Report)
	v.VerifyBytes(sealed, new(canon.Document), rep)
	return rep
}

func bytesCloned(fields []redact.Disclosure) []redact.Disclosure {
	var list []redact.Disclosure
	for _, f := range fields {
		f.Value = bytes.Clone(f.Value)
		list = append(list, f)
	}
	return list
}
