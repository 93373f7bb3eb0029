package receipt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

func TestSealRoundTrip(t *testing.T) {
	keys := newRing(receipt.Key{ID: "a", Issuers: []string{"issuer_a"}})
	v := verifier(t, keys, receipt.Policy{})
	for name, d := range map[string]*receipt.Draft{"plain": plainDraft(), "rich": richDraft()} {
		data := sealAndSign(t, d, keys["a"])
		r, err := v.Open(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(r.JSON(), data) {
			t.Errorf("%s: the opened receipt has other bytes", name)
		}
		// Sealing an opened receipt again must produce the same hash, which shows that no content
		// was lost.
		again, err := receipt.Seal(&r.Draft, chain.Head{Hash: r.Chain.PreviousReceiptHash.Digest})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again.Hash() != r.Chain.ReceiptHash {
			t.Errorf("%s: sealing the opened receipt returns %v, expected %v", name, again.Hash(), r.Chain.ReceiptHash)
		}
		if got, want := r.Signatures[0].KeyID, "a"; got != want {
			t.Errorf("%s: key id %q, want %q", name, got, want)
		}
	}
}

func TestSealWritesListsNeverNull(t *testing.T) {
	data := string(sealAndSign(t, plainDraft()))
	for _, member := range []string{`"approvals":[]`, `"deltas":[]`, `"redactions":[]`, `"final_artifacts":[]`, `"materials":[]`,
		`"alternatives_considered":[]`, `"provider_breakdown":[]`, `"fs_writes":[]`, `"network_egress":[]`, `"tool_calls":[]`, `"a2a_handoffs":[]`,
		`"metadata":{}`, `"failure":null`, `"previous_receipt_hash":null`} {
		if !strings.Contains(data, member) {
			t.Errorf("the sealed receipt lacks %s", member)
		}
	}
	if n := strings.Count(data, "null"); n != 2 {
		t.Errorf("%d nulls, want 2", n)
	}
}

func TestSealLinks(t *testing.T) {
	first, err := receipt.Seal(plainDraft(), chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := receipt.Seal(plainDraft(), first.Head())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse(second.JSON())
	if err != nil {
		t.Fatal(err)
	}
	link, ok := chain.LinkOf(doc)
	if !ok || link.First || link.Previous != first.Hash() || link.Hash != second.Hash() {
		t.Errorf("link %+v does not name %v", link, first.Hash())
	}
	if first.Head().Count != 1 || second.Head().Count != 2 {
		t.Errorf("counts %d and %d, want 1 and 2", first.Head().Count, second.Head().Count)
	}
	unknown, err := receipt.Seal(plainDraft(), chain.Head{Hash: first.Hash()})
	if err != nil || unknown.Head().Count != 0 {
		t.Errorf("after a head with an unknown count: count %d, %v; expected 0", unknown.Head().Count, err)
	}
}

func problems(t *testing.T, err error) map[string]receipt.Code {
	t.Helper()
	var invalid *receipt.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("error %v, want an *InvalidError", err)
	}
	found := map[string]receipt.Code{}
	for _, p := range invalid.Problems {
		found[p.Pointer] = p.Code
	}
	return found
}

func TestSealNamesEveryProblem(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*receipt.Draft)
		want map[string]receipt.Code
	}{
		"three at once": {func(d *receipt.Draft) { d.ReceiptID, d.Cost.Currency, d.Lifecycle.FinalState = "", "usd", "DONE" },
			map[string]receipt.Code{"/receipt_id": receipt.CodeSchemaInvalid, "/cost/currency": receipt.CodeSchemaInvalid, "/lifecycle/final_state": receipt.CodeSchemaInvalid}},
		"zero times": {func(d *receipt.Draft) {
			d.IssuedAt, d.Lifecycle.StartedAt, d.Lifecycle.CompletedAt = receipt.Time{}, receipt.Time{}, receipt.Time{}
		}, map[string]receipt.Code{"": receipt.CodeSchemaInvalid, "/lifecycle": receipt.CodeSchemaInvalid}},
		"bad text": {func(d *receipt.Draft) {
			d.Issuer.Name = "\xff"
			d.Metadata = receipt.Object{"k\xff": 1, "v": []any{"\xc0\x80"}}
		},
			map[string]receipt.Code{"/issuer/name": receipt.CodeInvalidUTF8, "/metadata/k\xff": receipt.CodeInvalidUTF8, "/metadata/v/0": receipt.CodeInvalidUTF8}},
		"nan":           {func(d *receipt.Draft) { d.Cost.Total = math.NaN() }, map[string]receipt.Code{"": receipt.CodeSchemaInvalid}},
		"lossy integer": {func(d *receipt.Draft) { d.Metadata = receipt.Object{"n": int64(1<<53 + 1)} }, map[string]receipt.Code{"/metadata/n": receipt.CodeNumberPrecision}},
		"too deep":      {func(d *receipt.Draft) { d.Metadata = receipt.Object{"d": deep(127)} }, map[string]receipt.Code{"": receipt.CodeDepthLimit}},
		"too large":     {func(d *receipt.Draft) { d.Metadata = receipt.Object{"s": strings.Repeat("x", receipt.MaxBytes)} }, map[string]receipt.Code{"": receipt.CodeSizeLimit}},
	} {
		d := plainDraft()
		c.edit(d)
		sealed, err := receipt.Seal(d, chain.Head{})
		if sealed != nil {
			t.Errorf("%s: returned a value and an error", name)
		}
		found := problems(t, err)
		if len(found) != len(c.want) {
			t.Errorf("%s: problems %v, want %v", name, found, c.want)
		}
		for at, code := range c.want {
			if found[at] != code {
				t.Errorf("%s: at %q %q, want %q", name, at, found[at], code)
			}
		}
	}
}

func deep(n int) any {
	if n == 0 {
		return []any{}
	}
	return []any{deep(n - 1)}
}

func TestSealDocument(t *testing.T) {
	base := string(sealAndSign(t, plainDraft()))
	doc, err := canon.Parse([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	draft := string(doc.AppendCanonical(nil, doc.Root().Member("chain")))
	head := chain.Head{Hash: canon.Sum(nil)}
	with := func(chain string) string { return draft[:len(draft)-1] + `,"chain":` + chain + "}" }
	for name, c := range map[string]struct {
		draft string
		head  chain.Head
		at    string // location of the problem, or "-" if there is none
	}{
		"plain":                   {draft, chain.Head{}, "-"},
		"no marker":               {strings.Replace(draft, `"schema":"receipt-2026-04-25",`, "", 1), chain.Head{}, "-"},
		"other marker":            {strings.Replace(draft, `receipt-2026-04-25`, "receipt-2027-01-01", 1), chain.Head{}, "/schema"},
		"null predecessor":        {with(`{"previous_receipt_hash":null}`), chain.Head{}, "-"},
		"its predecessor":         {with(`{"previous_receipt_hash":"` + head.Hash.String() + `"}`), head, "-"},
		"another predecessor":     {with(`{"previous_receipt_hash":"` + canon.Sum([]byte("y")).String() + `"}`), head, "/chain/previous_receipt_hash"},
		"a predecessor, no head":  {with(`{"previous_receipt_hash":"` + head.Hash.String() + `"}`), chain.Head{}, "/chain/previous_receipt_hash"},
		"a secret in its place":   {with(`{"previous_receipt_hash":"hunter2-hunter2"}`), head, "/chain/previous_receipt_hash"},
		"a number in its place":   {with(`{"previous_receipt_hash":49290011223344556677}`), head, "/chain/previous_receipt_hash"},
		"null, but there is one":  {with(`{"previous_receipt_hash":null}`), head, "/chain/previous_receipt_hash"},
		"merkle root":             {with(`{"merkle_root":"` + head.Hash.String() + `"}`), chain.Head{}, "-"},
		"sealed":                  {base, chain.Head{}, "/chain/receipt_hash"},
		"signatures":              {draft[:len(draft)-1] + `,"signatures":[]}`, chain.Head{}, "/signatures"},
		"unknown member of chain": {with(`{"x":1}`), chain.Head{}, "/chain/x"},
		"chain is no object":      {with(`[]`), chain.Head{}, "/chain"},
		"unknown member":          {draft[:len(draft)-1] + `,"x":1}`, chain.Head{}, "/x"},
		"array":                   {`[]`, chain.Head{}, ""},
	} {
		doc, err := canon.Parse([]byte(c.draft))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sealed, err := receipt.SealDocument(doc, c.head)
		if c.at != "-" {
			if _, ok := problems(t, err)[c.at]; !ok || sealed != nil {
				t.Errorf("%s: %v, want a problem at %q", name, err, c.at)
			}
			if text := err.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, "4929001") {
				t.Errorf("%s: the value is repeated: %s", name, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := receipt.ParseSealed(sealed.JSON()); err != nil {
			t.Errorf("%s: the sealed receipt is refused: %v", name, err)
		}
		if name == "merkle root" && !strings.Contains(string(sealed.JSON()), `"merkle_root":"`+head.Hash.String()) {
			t.Errorf("%s was dropped", name)
		}
	}
}

func TestSealDropsNothing(t *testing.T) {
	// A draft in JSON form preserves distinctions that typed members cannot express, such as
	// whether a member is null or absent, and whether a list is omitted.
	doc, err := canon.Parse(sealAndSign(t, plainDraft()))
	if err != nil {
		t.Fatal(err)
	}
	root := doc.Root()
	draft := doc.AppendCanonical(nil, root.Member("chain"), root.Member("approvals"), root.Member("lifecycle").Member("failure"))
	if err := doc.Parse(draft, canon.Limits{}); err != nil {
		t.Fatal(err)
	}
	sealed, err := receipt.SealDocument(doc, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	after, err := canon.Parse(sealed.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if got := after.AppendCanonical(nil, after.Root().Member("chain")); !bytes.Equal(got, draft) {
		t.Errorf("sealing changed the content\n%s\n%s", got, draft)
	}
}

type signerFunc func(context.Context, []byte) (receipt.Signature, error)

func (f signerFunc) Sign(ctx context.Context, m []byte) (receipt.Signature, error) { return f(ctx, m) }

func TestSign(t *testing.T) {
	keys := newRing(receipt.Key{ID: "a"}, receipt.Key{ID: "b"})
	sealed, err := receipt.Seal(plainDraft(), chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	once, err := sealed.Sign(t.Context(), keys["a"])
	if err != nil {
		t.Fatal(err)
	}
	twice, err := once.Sign(t.Context(), keys["b"])
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Signatures []receipt.Signature }
	if err := json.Unmarshal(twice.JSON(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Signatures) != 2 || r.Signatures[0].KeyID != "a" || r.Signatures[1].KeyID != "b" {
		t.Errorf("signatures %+v, want a then b", r.Signatures)
	}
	if twice.Hash() != sealed.Hash() {
		t.Error("signing changed the hash")
	}
	if bytes.Contains(sealed.JSON(), []byte("signatures")) {
		t.Error("signing changed the receipt that was signed")
	}
	copied := sealed.JSON()
	copied[0] = 'x'
	if sealed.JSON()[0] != '{' {
		t.Error("JSON gives away its memory")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := sealed.Sign(canceled, keys["a"]); err == nil || s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v, %v", s, err)
	}
	for name, bad := range map[string]receipt.Signature{"empty": {}, "no value": {KeyID: "k", Algorithm: "a"}, "no key": {Algorithm: "a", Signature: "s"}, "no algorithm": {KeyID: "k", Signature: "s"},
		"too large":             {KeyID: strings.Repeat("x", receipt.MaxBytes), Algorithm: "a", Signature: "s"},
		"a time without a form": {KeyID: "k", Algorithm: "a", Signature: "s", SignedAt: receipt.At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))}} {
		if s, err := sealed.Sign(t.Context(), signerFunc(func(context.Context, []byte) (receipt.Signature, error) { return bad, nil })); err == nil || s != nil {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

// TestSealedKeepsDocument verifies that a sealed receipt keeps the document that it writes, and
// that no other code can change that document.
func TestSealedKeepsDocument(t *testing.T) {
	draft, err := receipt.Seal(plainDraft(), chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	given := parsed(t, bytes.Replace(draft.JSON(), []byte(`"receipt_hash":"`+draft.Hash().String()+`"`), []byte(`"merkle_root":"`+canon.Sum(nil).String()+`"`), 1))
	sealed, err := receipt.SealDocument(given, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := sealed.Sign(t.Context(), testKeys()["a"])
	if err != nil {
		t.Fatal(err)
	}
	text := signed.JSON()
	read, err := receipt.ParseSealed(text)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	copy(text, "something else")
	for name, s := range map[string]*receipt.Sealed{"sealed": sealed, "of a draft": draft, "signed": signed, "read": read} {
		hash, err := chain.Hash(s.Document())
		link, ok := chain.LinkOf(s.Document())
		if err != nil || hash != s.Hash() || !ok || link.Hash != hash {
			t.Errorf("%s: the document has the hash %v and states %v, want %v", name, hash, link.Hash, s.Hash())
		}
		if canonical, err := canon.Transform(s.JSON()); err != nil || !bytes.Equal(canonical, s.JSON()) {
			t.Errorf("%s: not canonical: %s, %v", name, s.JSON(), err)
		}
	}
	if string(read.JSON()) != want || string(signed.JSON()) != want {
		t.Errorf("read %s, signed %s, want %s", read.JSON(), signed.JSON(), want)
	}
}

func TestParseSealed(t *testing.T) {
	good := sealAndSign(t, plainDraft())
	s, err := receipt.ParseSealed(good)
	if err != nil || s.ID() != "receipt_1" || s.Stream() != (chain.Stream{Issuer: "issuer_a", Workspace: "workspace_1"}) {
		t.Errorf("%+v, %v", s, err)
	}
	var refuted *receipt.RefutedError
	if _, err := receipt.ParseSealed(bytes.Replace(good, []byte("task_1"), []byte("task_2"), 1)); !errors.As(err, &refuted) {
		t.Errorf("changed: %v, want a *RefutedError", err)
	}
	var undecided *receipt.UndecidedError
	if _, err := receipt.ParseSealed(bytes.Replace(good, []byte("receipt-2026"), []byte("receipt-2027"), 1)); !errors.As(err, &undecided) {
		t.Errorf("newer: %v, want an *UndecidedError", err)
	}
}
