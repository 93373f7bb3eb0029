package batch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
)

// TestDamagedManifest verifies the result of a change to each byte of a manifest. The changed
// manifest must be rejected, fail to list one of the receipts, or have the same meaning as before.
func TestDamagedManifest(t *testing.T) {
	b := seal(t, drafts(t, 2))
	text, docs := b.Manifest.Marshal(), documents(t, b)
	same := 0
	for at := range text {
		for _, flip := range []byte{0x01, 0x02, 0x10, 0x20} {
			damaged := bytes.Clone(text)
			damaged[at] ^= flip
			m, err := batch.ParseManifest(damaged)
			if err != nil || m.Check(docs[0]) != nil || m.Check(docs[1]) != nil {
				continue
			}
			same++
			if canonical, err := canon.Transform(damaged); err != nil || !bytes.Equal(append(canonical, '\n'), text) {
				t.Errorf("offset %d ^ %#x is not noticed: %s", at, flip, damaged)
			}
		}
	}
	if same > 4 { // changes to the newline at the end
		t.Errorf("%d damaged manifests say the same", same)
	}
}

// TestDamagedReceipts verifies that a receipt with a changed leaf is never verified and does not
// match the manifest. The only exception is a changed receipt_hash, because the manifest uses the
// computed hash.
func TestDamagedReceipts(t *testing.T) {
	b := seal(t, drafts(t, 2))
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, r := range b.Receipts {
		for at, damaged := range damages(t, r.JSON()) {
			cases++
			doc, rep := new(canon.Document), new(receipt.Report)
			v.VerifyBytes(damaged, doc, rep)
			if rep.Verdict == receipt.Verified {
				t.Errorf("%s at %s: %v", r.ID(), at, rep.Verdict)
			}
			err := b.Manifest.Check(parse(t, string(damaged)))
			if (err == nil) != (at == "/chain/receipt_hash") { // the manifest uses the computed hash, not the stated one
				t.Errorf("%s at %s: %v", r.ID(), at, err)
			}
		}
	}
	if cases < 2*30 {
		t.Errorf("only %d cases", cases)
	}
}

// damages returns copies of the document in which one leaf is changed, indexed by pointer.
func damages(t *testing.T, src []byte) map[string][]byte {
	t.Helper()
	var tree any
	if err := json.Unmarshal(src, &tree); err != nil {
		t.Fatal(err)
	}
	list := make(map[string][]byte)
	var walk func(at string, v any, set func(any))
	walk = func(at string, v any, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				walk(at+"/"+name, member, func(x any) { v[name] = x })
			}
			if len(v) > 0 {
				return
			}
		case []any:
			for i, element := range v {
				walk(fmt.Sprint(at, "/", i), element, func(x any) { v[i] = x })
			}
			if len(v) > 0 {
				return
			}
		}
		set(changed(v))
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		list[at] = text
		set(v)
	}
	walk("", tree, nil)
	return list
}

// changed returns a different value of the same type.
func changed(v any) any {
	switch v := v.(type) {
	case string:
		last := v[len(v)-1]
		return v[:len(v)-1] + string(last^1)
	case float64:
		return v + 1
	case bool:
		return !v
	case []any:
		return []any{"x"}
	case map[string]any:
		return map[string]any{"x": "x"}
	}
	return "x"
}

// TestSwapped verifies that receipts from another batch, and receipts with another receipt's ID,
// are rejected.
func TestSwapped(t *testing.T) {
	list := drafts(t, 3)
	b, other := seal(t, list), seal(t, list[:2])
	for i, doc := range documents(t, other) {
		want := fmt.Sprintf("batch: receipt %q: the manifest lists %v at /merkle_root, the receipt has %v", name(i), b.Manifest.Root(), other.Manifest.Root())
		if err := b.Manifest.Check(doc); err == nil || err.Error() != want {
			t.Errorf("receipt %d: %v, want %s", i, err, want)
		}
	}
	for what, c := range map[string]struct{ text, want string }{
		"without a root": {content(name(1), "w"), `batch: receipt "receipt_1": the manifest lists ` + b.Manifest.Root().String() + ` at /merkle_root, the receipt has none`},
		"other content": {content(name(1), "v"), `batch: receipt "receipt_1": the manifest lists ` + leaf(content(name(1), "w")).String() +
			` at /receipts/1/leaf_hash, the receipt has ` + leaf(content(name(1), "v")).String()},
		"first again": {preimage(name(1), "w", b.Manifest.Root().String(), "null"), `batch: receipt "receipt_1": the manifest lists ` + b.Receipts[1].Hash().String() +
			` at /receipts/1/receipt_hash, the receipt has ` + hash(preimage(name(1), "w", b.Manifest.Root().String(), "null")).String()},
	} {
		if err := b.Manifest.Check(parse(t, c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", what, err, c.want)
		}
	}
}

// TestCircular verifies that the result for a receipt with an upstream root contains an
// explanation.
func TestCircular(t *testing.T) {
	m := seal(t, drafts(t, 1)).Manifest
	stated := m.Entries()[0].ReceiptHash
	err := m.Check(parse(t, preimage(name(0), "w", stated.String(), "null")))
	if why := m.Explain(stated); err == nil || why == "" || !strings.HasSuffix(err.Error(), fmt.Sprintf("the receipt has %v: %s", stated, why)) {
		t.Error(err)
	}
}
