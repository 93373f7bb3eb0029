package receipt_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestVerifyKeepsTheLimits verifies that the limits of the format and the policy apply to a
// document that the caller parsed with higher limits.
func TestVerifyKeepsTheLimits(t *testing.T) {
	keys := testKeys()
	good := forge(t, plainDraft(), keep, keys["a"])
	nested := func(levels int) []byte {
		return bytes.Replace(good, []byte(`"metadata":{}`), []byte(`"metadata":{"d":`+strings.Repeat("[", levels)+strings.Repeat("]", levels)+`}`), 1)
	}
	for name, c := range map[string]struct {
		data   []byte
		limits canon.Limits
		want   outcome
	}{
		"at the depth":     {nested(126), canon.Limits{}, refuted(receipt.StepHash, receipt.CodeHashMismatch, "/chain/receipt_hash")},
		"too deep":         {nested(127), canon.Limits{}, refuted(receipt.StepParse, receipt.CodeDepthLimit, "")},
		"deeper than told": {good, canon.Limits{Depth: 2}, undecided(receipt.StepParse, receipt.CodeDepthLimit, "")},
		"at the size":      {append(bytes.Clone(good), bytes.Repeat([]byte{' '}, receipt.MaxBytes-len(good))...), canon.Limits{}, verified()},
		"too large":        {append(bytes.Clone(good), bytes.Repeat([]byte{' '}, receipt.MaxBytes-len(good)+1)...), canon.Limits{}, refuted(receipt.StepParse, receipt.CodeSizeLimit, "")},
		"larger than told": {good, canon.Limits{Bytes: len(good) - 1}, undecided(receipt.StepParse, receipt.CodeSizeLimit, "")},
		"as told":          {good, canon.Limits{Bytes: len(good)}, verified()},
	} {
		doc, rep := new(canon.Document), new(receipt.Report)
		if err := doc.Parse(c.data, canon.Limits{Bytes: 2 * receipt.MaxBytes}); err != nil {
			t.Fatal(err)
		}
		verifier(t, keys, receipt.Policy{Limits: c.limits}).Verify(doc, rep)
		if got := outcomeOf(rep); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestWhatIsNoReceipt verifies that other documents are distinguished from damaged receipts and
// from receipts in other versions.
func TestWhatIsNoReceipt(t *testing.T) {
	v := verifier(t, testKeys(), receipt.Policy{})
	none := refuted(receipt.StepSchema, receipt.CodeNotAReceipt, "")
	damaged := refuted(receipt.StepSchema, receipt.CodeSchemaInvalid, "")
	newer := undecided(receipt.StepSchema, "unsupported_schema", "/schema")
	for in, c := range map[string]struct {
		want   outcome
		detail string
	}{
		`{}`:                               {none, "no member schema, receipt_id or chain"},
		`{"keys":[]}`:                      {none, "key set"},
		`{"report_version":1}`:             {none, "verification report"},
		`{"wire":{}}`:                      {none, "/wire/payload"},
		`{"schema":"other"}`:               {none, ""},
		`{"schema":1}`:                     {none, ""},
		`{"receipt_id":"x"}`:               {damaged, ""},
		`{"chain":{}}`:                     {damaged, ""},
		`{"schema":"receipt-x"}`:           {damaged, ""},
		`{"schema":"receipt-2027-01-01"}`:  {newer, "receipt-2027-01-01"},
		`{"schema":"receipt-2027-01-0x"}`:  {damaged, ""},
		`{"schema":"receipt-2027_01-01"}`:  {damaged, ""},
		`{"schema":"receipt-2027-01-011"}`: {damaged, ""},
		`{"schema":"Receipt-2027-01-01"}`:  {none, ""},
	} {
		rep := verify(v, []byte(in))
		if got := outcomeOf(rep); got.verdict != c.want.verdict || got.code != c.want.code || !strings.Contains(rep.Finding().Detail, c.detail) {
			t.Errorf("%s: %v, %q; want %v, %q", in, got, rep.Finding().Detail, c.want, c.detail)
		}
	}
}

// TestHashWithoutStatement verifies that the hash is computed even if the receipt does not state
// one.
func TestHashWithoutStatement(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	want := verify(v, forge(t, plainDraft(), keep, keys["a"])).ReceiptHash
	doc, err := canon.Parse(forge(t, plainDraft(), keep, keys["a"]))
	if err != nil {
		t.Fatal(err)
	}
	rep := verify(v, doc.AppendCanonical(nil, doc.Root().Member("chain").Member("receipt_hash")))
	c := rep.Check(receipt.StepHash)
	if c.Status != receipt.StatusNotChecked || c.Code != "step_not_reached" || c.Computed != want.String() || rep.ReceiptHash != want || rep.Verdict != receipt.Refuted {
		t.Errorf("%+v of %v, want %v", c, rep.ReceiptHash, want)
	}
}

func TestSchemaCountsTheRest(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	for unknown, want := range map[int]string{1: "", 20: "", 22: "and 2 more places"} {
		rep := verify(v, forge(t, plainDraft(), func(o map[string]any) {
			for i := range unknown {
				o[strings.Repeat("x", i+1)] = 1
			}
		}, keys["a"]))
		last := receipt.Check{}
		places := 0
		for _, c := range rep.Checks {
			if c.Step == receipt.StepSchema {
				last = c
				places++
			}
		}
		if last.Hint != want || places != min(unknown, 20) {
			t.Errorf("%d unknown members: %d places, %q", unknown, places, last.Hint)
		}
	}
}

func TestRedactionsAreCounted(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	for n, want := range map[int]string{0: "", 1: "1 value withheld", 2: "2 values withheld", 3: "3 values withheld"} {
		d := plainDraft()
		d.Redactions = make([]receipt.Redaction, n)
		for i := range d.Redactions {
			d.Redactions[i] = receipt.Redaction{Field: "/x", Reason: "r"}
		}
		c := verify(v, forge(t, d, keep, keys["a"])).Check(receipt.StepRedactions)
		if !strings.Contains(c.Detail, want) || (c.Status == receipt.StatusNotApplicable) != (n == 0) {
			t.Errorf("%d: %+v", n, c)
		}
	}
}

// TestCutKeepsCharacters verifies that truncation never splits a character.
func TestCutKeepsCharacters(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	good := forge(t, plainDraft(), keep, keys["a"])
	for before := range 5 {
		id := strings.Repeat("x", before) + strings.Repeat("€", 200)
		rep := verify(v, bytes.Replace(good, []byte(`"key_id":"a"`), []byte(`"key_id":"`+id+`"`), 1))
		got, cut := strings.CutSuffix(rep.Signatures[0].KeyID, "…")
		if !cut || !strings.HasPrefix(id, got) || len(got) > 256 || len(got) < 253 || !strings.HasSuffix(got, "€") {
			t.Errorf("%q", rep.Signatures[0].KeyID)
		}
	}
}
