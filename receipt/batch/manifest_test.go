package batch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
)

var _ receipt.Batch = (*batch.Manifest)(nil)

// TestListed verifies the leaves and hashes in batches of all small sizes, and that their roots are
// those that RFC 9162 defines.
func TestListed(t *testing.T) {
	list := drafts(t, 17)
	for n := 1; n <= len(list); n++ {
		m := seal(t, list[:n]).Manifest
		var leaves []merkle.Hash
		for i := range n {
			leaf := receipt.BatchLeaf(list[i])
			leaves = append(leaves, leaf)
			want := m.Entries()[i].ReceiptHash
			if listed, hash, ok := m.Find([]byte(name(i))); !ok || listed != leaf || hash != want || want.IsZero() {
				t.Errorf("%d of %d: leaf %v and receipt_hash %v, want %v and %v", i, n, listed, hash, leaf, want)
			}
		}
		if root := canon.Digest(merkle.Root(leaves)); m.Root() != root {
			t.Errorf("%d: root %v, want %v", n, m.Root(), root)
		}
	}
}

func TestNotListed(t *testing.T) {
	m := seal(t, drafts(t, 2)).Manifest
	for _, id := range []string{"", "receipt_2", "receipt_0 ", "Receipt_0"} {
		if leaf, hash, ok := m.Find([]byte(id)); ok || leaf != (merkle.Hash{}) || !hash.IsZero() {
			t.Errorf("%q has the leaf %v and the receipt_hash %v", id, leaf, hash)
		}
	}
	if err := m.Check(parse(t, content("receipt_2\u202e", "w"))); err == nil || err.Error() != `batch: the manifest lists no receipt "receipt_2\u202e"` {
		t.Error(err)
	}
	if err := m.Check(parse(t, `[]`)); err == nil {
		t.Error("an array is in the batch")
	}
}

func TestEntriesAreACopy(t *testing.T) {
	m := seal(t, drafts(t, 2)).Manifest
	m.Entries()[0].ReceiptID = "x"
	if got := m.Entries()[0].ReceiptID; got != name(0) {
		t.Errorf("%q", got)
	}
}

// TestParse verifies that strings that are not manifests are rejected with the expected errors.
func TestParse(t *testing.T) {
	m := seal(t, drafts(t, 3)).Manifest
	e, text := m.Entries(), string(m.Marshal())
	edit := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("nothing to change at %s", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	same := func(change func(*batch.Entry)) string {
		list := append(m.Entries(), e[0])
		list[3].ReceiptID, list[3].Leaf[0], list[3].ReceiptHash[0] = "x", e[0].Leaf[0]^1, e[0].ReceiptHash[0]^1
		change(&list[3])
		return manifest(rootOf(list), list...)
	}
	for what, c := range map[string]struct{ text, want string }{
		"as written":           {text, ""},
		"spaces":               {" " + strings.ReplaceAll(text, ",", " ,\r\n\t"), ""},
		"without newline":      {strings.TrimSpace(text), ""},
		"version 1.0":          {edit(`"batch_version":1`, `"batch_version":1.0`), ""},
		"empty":                {"", "batch: line "},
		"cut":                  {text[:len(text)-3], "batch: line "},
		"two":                  {text + text, "batch: line "},
		"duplicate name":       {edit(`{"batch_version":1`, `{"batch_version":1,"batch_version":1`), "batch: line "},
		"array":                {"[]", "batch: the manifest is malformed: 1 problem\nexpected object, found array"},
		"version 2":            {edit(`"batch_version":1`, `"batch_version":2`), "batch: the manifest is malformed: 1 problem\nexpected 1, found a number at \"/batch_version\""},
		"profile":              {edit(`"content"`, `"checkpoint"`), "batch: the manifest is malformed: 1 problem\nexpected \"content\", found a string of 10 characters at \"/profile\""},
		"unknown member":       {edit(`{"leaf_hash"`, `{"x":1,"leaf_hash"`), "batch: the manifest is malformed: 1 problem\nunknown member \"x\" at \"/receipts/0/x\""},
		"upper case":           {edit(`"leaf_hash":"sha256`, `"leaf_hash":"SHA256`), "batch: the manifest is malformed: 1 problem\n"},
		"no entry":             {manifest(canon.Digest(merkle.EmptyRoot())), "batch: the manifest is malformed: 1 problem\nexpected at least 1 element, found 0 at \"/receipts\""},
		"repeated id":          {same(func(e *batch.Entry) { e.ReceiptID = name(0) }), "batch: the manifest is malformed: 1 problem\nexpected distinct values, found that of /receipts/0 again at \"/receipts/3/receipt_id\""},
		"repeated leaf":        {same(func(last *batch.Entry) { last.Leaf = e[1].Leaf }), "batch: the manifest is malformed: 1 problem\nexpected distinct values, found that of /receipts/1 again at \"/receipts/3/leaf_hash\""},
		"repeated hash":        {same(func(last *batch.Entry) { last.ReceiptHash = e[2].ReceiptHash }), "batch: the manifest is malformed: 1 problem\nexpected distinct values, found that of /receipts/2 again at \"/receipts/3/receipt_hash\""},
		"a,b,c,c":              {manifest(m.Root(), e[0], e[1], e[2], e[2]), "batch: the manifest is malformed: 3 problems\n"},
		"a,b,c,c, another id":  {manifest(m.Root(), e[0], e[1], e[2], batch.Entry{ReceiptID: "d", Leaf: e[2].Leaf}), "batch: the manifest is malformed: 1 problem\n"},
		"another entry":        {same(func(*batch.Entry) {}), ""},
		"added":                {manifest(m.Root(), e[0], e[1], e[2], batch.Entry{ReceiptID: "d"}), "batch: the manifest states the root " + m.Root().String() + ", its leaves have the RFC 9162 root "},
		"removed":              {manifest(m.Root(), e[0], e[1]), "batch: the manifest states the root "},
		"reordered":            {manifest(m.Root(), e[1], e[0], e[2]), "batch: the manifest states the root "},
		"root over nothing":    {manifest(canon.Sum(nil), e...), "batch: the manifest states the root "},
		"too large":            {text + strings.Repeat(" ", batch.MaxBytes), "batch: line "},
		"deep":                 {strings.Repeat("[", 33) + strings.Repeat("]", 33), "batch: line "},
		"too many":             {edit(`"receipts":[`, `"receipts":[`+strings.Repeat(`{},`, batch.MaxEntries)), "batch: the manifest is malformed: "},
		"many false":           {edit(`"receipts":[`, `"receipts":[`+strings.Repeat(`{},`, 1000)), "batch: the manifest is malformed: 3000 problems\n"},
		"of one, another root": {manifest(hash("x"), e[0]), "batch: the manifest states the root "},
	} {
		got, err := batch.ParseManifest([]byte(c.text))
		if (err == nil) != (got != nil) || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v, %v", what, got, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", what, err, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	text := string(seal(t, drafts(t, 2)).Manifest.Marshal())
	var syntax *canon.SyntaxError
	if _, err := batch.ParseManifest([]byte(text[:20])); !errors.As(err, &syntax) {
		t.Errorf("%T", err)
	}
	var invalid *batch.InvalidError
	if _, err := batch.ParseManifest([]byte(`{}`)); !errors.As(err, &invalid) || invalid.Total != 4 || len(invalid.Problems) != 4 {
		t.Errorf("%v", err)
	}
	m, err := batch.ParseManifest([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	lie := manifest(hash("x"), m.Entries()...)
	if _, err := batch.ParseManifest([]byte(lie)); err == nil || err.Error() != fmt.Sprintf("batch: the manifest states the root %v, its leaves have the RFC 9162 root %v", hash("x"), m.Root()) {
		t.Errorf("%v", err)
	}
}
