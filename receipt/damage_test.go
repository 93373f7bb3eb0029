package receipt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

// judge verifies data with the fast path and with the plain path, and then verifies the canonical
// form of data. All three results must agree.
func judge(t testing.TB, fast, plain *receipt.Verifier, data []byte) *receipt.Report {
	t.Helper()
	rep := verify(fast, data)
	same := func(what string, other *receipt.Report) {
		if a, b := outcomeOf(rep), outcomeOf(other); a != b && !(a.verdict == b.verdict && a.code == b.code) {
			t.Errorf("%s: %v, otherwise %v, for %.300q", what, b, a, data)
		}
	}
	same("plain path", verify(plain, data))
	if canonical, err := canon.Transform(data); err == nil && len(data) < receipt.MaxBytes {
		same("canonical form", verify(fast, canonical))
	}
	return rep
}

// TestEveryLeaf verifies that a change to any leaf is detected in a receipt that has every member.
func TestEveryLeaf(t *testing.T) {
	keys := testKeys()
	fast, plain := verifier(t, keys, receipt.Policy{}), verifier(t, keys, receipt.Policy{Plain: true})
	data := forge(t, richDraft(), keep, keys["a"])
	leaves := 0
	for _, leaf := range leafPaths(t, data) {
		if leaf.under("signatures") || leaf.String() == "/chain/receipt_hash" {
			continue
		}
		leaves++
		// Try one other value and, in rotation, one of the other changes.
		taken := func(i int) bool { return testsize.Full() || i == 0 || (i+leaves)%4 == 0 }
		for _, changed := range leaf.changes(t, data, taken) {
			rep := judge(t, fast, plain, changed)
			if c := rep.Check(receipt.StepHash); rep.Verdict != receipt.Refuted || c.Code != receipt.CodeHashMismatch && c.Code != "malformed_hash" {
				if rep.Finding().Code == "unsupported_schema" || rep.Finding().Code == receipt.CodeNumberPrecision {
					continue // these codes end the verification before the hash is checked
				}
				t.Errorf("%v changed: %v, hash %v %s", leaf, outcomeOf(rep), c.Status, c.Code)
			}
		}
	}
	if leaves < 130 {
		t.Errorf("only %d leaves; the receipt should have every member", leaves)
	}
}

type path []any

func (p path) under(name string) bool { return len(p) > 0 && p[0] == name }

func (p path) String() string {
	s := ""
	for _, step := range p {
		s += fmt.Sprintf("/%v", step)
	}
	return s
}

func leafPaths(t *testing.T, data []byte) []path {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	var found []path
	var walk func(at path, v any)
	walk = func(at path, v any) {
		step := func(s any) path { return append(append(path(nil), at...), s) }
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				walk(step(name), member)
			}
		case []any:
			for i, e := range v {
				walk(step(i), e)
			}
		default:
			found = append(found, at)
		}
	}
	walk(nil, v)
	return found
}

// changes returns copies of data in which the leaf is replaced by a different value, either of the
// same type or of another type. It returns only the copies whose index is accepted by the
// function taken.
func (p path) changes(t *testing.T, data []byte, taken func(i int) bool) [][]byte {
	t.Helper()
	var changed [][]byte
	for i := range 5 {
		if !taken(i) {
			continue
		}
		var root any
		if err := json.Unmarshal(data, &root); err != nil {
			t.Fatal(err)
		}
		parent := root
		for _, step := range p[:len(p)-1] {
			parent = child(parent, step)
		}
		old := child(parent, p[len(p)-1])
		value := []any{another(old), nil, true, 12345.5, "other"}[i]
		if value == old {
			continue
		}
		switch parent := parent.(type) {
		case map[string]any:
			parent[p[len(p)-1].(string)] = value
		case []any:
			parent[p[len(p)-1].(int)] = value
		}
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		changed = append(changed, text)
	}
	return changed
}

func child(v, step any) any {
	if name, ok := step.(string); ok {
		return v.(map[string]any)[name]
	}
	return v.([]any)[step.(int)]
}

func another(v any) any {
	switch v := v.(type) {
	case string:
		return v + "x"
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return "not null"
}

// TestEveryByte verifies that, if a small receipt with one damaged byte is still verified, its
// preimage and the signatures that count are unchanged.
func TestEveryByte(t *testing.T) {
	keys := testKeys()
	fast, plain := verifier(t, keys, receipt.Policy{}), verifier(t, keys, receipt.Policy{Plain: true})
	data := forge(t, plainDraft(), keep, keys["a"])
	want := essence(t, data)
	damaged := func(i int, text []byte) {
		if bytes.Equal(text, data) {
			return
		}
		if rep := judge(t, fast, plain, text); rep.Verdict == receipt.Verified && essence(t, text) != want {
			t.Errorf("byte %d: verified with other content: %s", i, text)
		}
	}
	step := 1
	if !testsize.Full() {
		step = 13
	}
	for i := 0; i < len(data); i += step {
		for _, c := range []byte{data[i] ^ 1, data[i] ^ 0x20, data[i] ^ 0x80, ' ', '0', '"', '\\', 0} {
			text := bytes.Clone(data)
			text[i] = c
			damaged(i, text)
		}
		damaged(i, append(bytes.Clone(data[:i]), data[i+1:]...))
		damaged(i, append(append(bytes.Clone(data[:i+1]), data[i]), data[i+1:]...))
	}
}

// essence returns the content that a verified receipt attests to.
func essence(t *testing.T, data []byte) string {
	t.Helper()
	doc, err := canon.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	text, err := chain.AppendPreimage(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Root().Member("signatures").Elements() {
		text = append(append(text, s.Member("key_id").Text()...), s.Member("signature").Text()...)
	}
	return string(text)
}

// TestHashHints verifies that known mistakes in applying the hash rule are recognized.
func TestHashHints(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	base := forge(t, richDraft(), func(o map[string]any) {
		o["chain"].(map[string]any)["merkle_root"] = canon.Sum(nil).String()
	}, keys["a"])
	for name, wrong := range map[string]func(o, c map[string]any){
		`receipt_hash set to ""`: func(o, c map[string]any) { c["receipt_hash"] = ""; delete(o, "signatures") },
		"/signatures left in":    func(o, c map[string]any) { delete(c, "receipt_hash") },
		"the whole of /chain":    func(o, c map[string]any) { delete(o, "chain"); delete(o, "signatures") },
		"/chain/merkle_root": func(o, c map[string]any) {
			delete(c, "receipt_hash")
			delete(c, "merkle_root")
			delete(o, "signatures")
		},
		"/metadata": func(o, c map[string]any) { delete(c, "receipt_hash"); delete(o, "metadata"); delete(o, "signatures") },
	} {
		o, mistaken := map[string]any{}, map[string]any{}
		for _, m := range []*map[string]any{&o, &mistaken} {
			if err := json.Unmarshal(base, m); err != nil {
				t.Fatal(err)
			}
		}
		wrong(mistaken, mistaken["chain"].(map[string]any))
		text, err := json.Marshal(mistaken)
		if err != nil {
			t.Fatal(err)
		}
		if text, err = canon.Transform(text); err != nil {
			t.Fatal(err)
		}
		o["chain"].(map[string]any)["receipt_hash"] = canon.Sum(text).String()
		if text, err = json.Marshal(o); err != nil {
			t.Fatal(err)
		}
		rep := verify(v, text)
		if c := rep.Check(receipt.StepHash); c.Code != receipt.CodeHashMismatch || !bytes.Contains([]byte(c.Hint), []byte(name)) {
			t.Errorf("%s: %s, hint %q", name, c.Code, c.Hint)
		}
	}
}

// FuzzVerify verifies that the plain path and the canonical form result in the same verdict,
// and that only the content of the original receipt is ever verified.
func FuzzVerify(f *testing.F) {
	keys := testKeys()
	fast, plain := verifier(f, keys, receipt.Policy{}), verifier(f, keys, receipt.Policy{Plain: true})
	for _, d := range []*receipt.Draft{plainDraft(), richDraft()} {
		f.Add(forge(f, d, keep, keys["a"]))
	}
	f.Add([]byte(`{"schema":"receipt-2026-04-25"}`))
	f.Add([]byte(`{"receipt_id":"x","chain":{"receipt_hash":"sha256:","previous_receipt_hash":1e300},"signatures":[{}]}`))
	known := map[canon.Digest]bool{}
	for _, d := range []*receipt.Draft{plainDraft(), richDraft()} {
		s, err := receipt.Seal(d, chain.Head{})
		if err != nil {
			f.Fatal(err)
		}
		known[s.Hash()] = true
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if rep := judge(t, fast, plain, data); rep.Verdict == receipt.Verified && !known[rep.ReceiptHash] {
			t.Errorf("verified a receipt without a valid signature: %s", data)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	keys := testKeys()
	v := verifier(b, keys, receipt.Policy{})
	data := forge(b, richDraft(), keep, keys["a"])
	doc, rep := new(canon.Document), new(receipt.Report)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if v.VerifyBytes(data, doc, rep); rep.Verdict != receipt.Verified {
			b.Fatal(rep.Finding())
		}
	}
}
