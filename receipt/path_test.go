package receipt_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// TestDraftRedact verifies that a draft with nil lists can be redacted and sealed. The receipt must
// be the same as if the draft had been passed as a document.
func TestDraftRedact(t *testing.T) {
	policy, err := redact.Rules{Pointers: []string{"/metadata/pin"}, Names: []string{"quorum_proof", "reason"}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*receipt.Draft{"plain": plainDraft(), "rich": richDraft()} {
		d.Metadata = receipt.Object{"pin": "7391", "kept": 1.5}
		before := *d
		redacted, withheld, err := d.Redact(policy, new(counter))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(*d, before) {
			t.Errorf("%s: the draft has changed", name)
		}

		sealed, err := receipt.Seal(redacted, chain.Head{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(withheld.Fields) == 0 || strings.Contains(string(sealed.JSON()), "7391") {
			t.Errorf("%s: %d values are withheld from %s", name, len(withheld.Fields), sealed.JSON())
		}
		if err := withheld.Check(sealed.Document()); err != nil {
			t.Errorf("%s: %v", name, err)
		}

		doc, err := d.Document()
		if err != nil {
			t.Fatal(err)
		}
		result, err := policy.Redact(doc, new(counter))
		if err != nil {
			t.Fatal(err)
		}
		other, err := receipt.SealDocument(result.Draft, chain.Head{})
		if err != nil || other.Hash() != sealed.Hash() {
			t.Errorf("%s: as a document\n%s, %v; as a draft\n%s", name, other.JSON(), err, sealed.JSON())
		}
	}
}

// TestDraftRedactInvalid verifies that a draft that JSON cannot represent is rejected with a list
// of all problems.
func TestDraftRedactInvalid(t *testing.T) {
	policy, err := redact.Everyday()
	if err != nil {
		t.Fatal(err)
	}
	d := plainDraft()
	d.Issuer.Name = "\xff"
	_, _, err = d.Redact(policy, new(counter))
	if found := problems(t, err); found["/issuer/name"] != receipt.CodeInvalidUTF8 {
		t.Errorf("%v", found)
	}
}

// TestDraftTimes verifies that an unset time remains unset in JSON.
func TestDraftTimes(t *testing.T) {
	d := plainDraft()
	d.IssuedAt, d.Lifecycle.StartedAt = receipt.Time{}, receipt.Time{}
	text, err := json.Marshal(d)
	if err != nil || strings.Contains(string(text), "issued_at") || strings.Contains(string(text), "started_at") {
		t.Fatalf("%s, %v", text, err)
	}
	back := new(receipt.Draft)
	if err := json.Unmarshal(text, back); err != nil || !back.IssuedAt.IsZero() || !back.Lifecycle.StartedAt.IsZero() {
		t.Errorf("%+v, %v", back, err)
	}
}

// TestReceiptJSON verifies that only a Verifier can create a Receipt, and that the JSON form of a
// Receipt is complete.
func TestReceiptJSON(t *testing.T) {
	keys := newRing(receipt.Key{ID: "a", Issuers: []string{"issuer_a"}})
	data := sealAndSign(t, plainDraft(), keys["a"])
	for _, r := range []any{new(receipt.Receipt), new([]receipt.Receipt)} {
		text := data
		if _, list := r.(*[]receipt.Receipt); list {
			text = []byte("[" + string(data) + "]")
		}
		if err := json.Unmarshal(text, r); err == nil {
			t.Errorf("%T was decoded without verification", r)
		}
	}
	if text, err := json.Marshal(new(receipt.Receipt)); err == nil {
		t.Errorf("the zero Receipt is %s", text)
	}

	r, err := verifier(t, keys, receipt.Policy{}).Open(data)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := receipt.ParseSealed(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{r, *r, sealed, *sealed} {
		if text, err := json.Marshal(v); err != nil || string(text) != string(data) {
			t.Errorf("%T: %s, %v; expected %s", v, text, err, data)
		}
	}
}

// TestZeroValues verifies that methods of zero values do not panic and never return the verdict
// "verified".
func TestZeroValues(t *testing.T) {
	keys := newRing(receipt.Key{ID: "a", Issuers: []string{"issuer_a"}})
	data := sealAndSign(t, plainDraft(), keys["a"])
	doc, err := canon.Parse(data)
	if err != nil {
		t.Fatal(err)
	}

	v := new(receipt.Verifier)
	other, err := v.With(receipt.Evidence{})
	if err != nil {
		t.Fatal(err)
	}
	watching, _ := v.TrackEvidence()
	for name, v := range map[string]*receipt.Verifier{"zero": v, "with evidence": other, "watching": watching} {
		rep, fresh := verify(v, data), new(receipt.Report)
		v.Verify(doc, fresh)
		for _, r := range []*receipt.Report{rep, fresh} {
			if r.Verdict != receipt.Undecided || !strings.Contains(r.Finding().Detail, "NewVerifier") {
				t.Errorf("%s: %v, %+v", name, r.Verdict, r.Finding())
			}
		}

		// A report from another verifier is not accepted.
		rep = verify(verifier(t, keys, receipt.Policy{}), data)
		if rep.Verdict != receipt.Verified {
			t.Fatal("the receipt is not verified")
		}
		v.Amend(rep, receipt.Check{Step: receipt.StepLink, Status: receipt.StatusPassed})
		if rep.Verdict == receipt.Verified {
			t.Errorf("%s: verified by its link", name)
		}
		if r, err := v.Open(data); r != nil || !errors.As(err, new(*receipt.UndecidedError)) {
			t.Errorf("%s: opened: %v, %v", name, r, err)
		}
		v.Amend(new(receipt.Report), receipt.Check{Status: receipt.StatusFailed})
		if c := v.OpenCheckpoint([]byte("note")); c.Signed {
			t.Errorf("%s: a checkpoint is signed", name)
		}
		if at, external := v.Witnessed(&receipt.Checkpoint{Signed: true}); !at.IsZero() || external {
			t.Errorf("%s: a checkpoint that was not opened is witnessed", name)
		}
		v.Policy()
		v.Scope()
	}

	s := new(receipt.Sealed)
	if len(s.JSON()) > 0 || s.ID() != "" || !s.Hash().IsZero() || !s.Head().Hash.IsZero() || s.Stream() != (chain.Stream{}) || !s.Document().Root().IsZero() {
		t.Errorf("the zero Sealed is %s", s.JSON())
	}
	if text, err := json.Marshal(s); err == nil {
		t.Errorf("the zero Sealed is %s", text)
	}
	if r, err := s.Sign(context.Background(), keys["a"]); r != nil || err == nil {
		t.Errorf("the zero Sealed was signed: %v", err)
	}
	verify(verifier(t, keys, receipt.Policy{}), s.JSON())
	if rep := new(receipt.Report); rep.Verdict == receipt.Verified || rep.Finding().Code != "" {
		t.Errorf("the zero Report is %v", rep.Verdict)
	}
	if r := new(receipt.Receipt); r.Report() != nil || len(r.JSON()) > 0 {
		t.Error("the zero Receipt has a report")
	}
}

// TestAmendUnread verifies that a result for the link is ignored if the document could not be read.
func TestAmendUnread(t *testing.T) {
	v, rep := verifier(t, testKeys(), receipt.Policy{}), new(receipt.Report)
	v.Amend(rep, receipt.Check{Step: receipt.StepParse, Status: receipt.StatusNotChecked, Code: receipt.CodeTornTail})
	for _, status := range []receipt.Status{receipt.StatusPassed, receipt.StatusFailed} {
		v.Amend(rep, receipt.Check{Step: receipt.StepLink, Status: status, Code: receipt.CodeChainBreak})
		if c := rep.Check(receipt.StepLink); rep.Verdict != receipt.Undecided || c.Code != receipt.CodeStepNotReached {
			t.Errorf("%v: %v, %+v", status, rep.Verdict, c)
		}
	}
}

// TestUnverifiedReceipt verifies that a receipt that no verifier returned is not written.
func TestUnverifiedReceipt(t *testing.T) {
	if text, err := (receipt.Receipt{}).MarshalJSON(); err == nil || text != nil {
		t.Errorf("%s, %v", text, err)
	}
}
