package batch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
)

// TestProblems verifies that, if any draft has a problem, nothing is sealed and every problem of
// every draft is reported.
func TestProblems(t *testing.T) {
	good := func(i int) string { return content(name(i), "w") }
	with := func(i int, member string) string { return `{` + member + `,` + good(i)[1:] }
	digest := hash("x").String()
	heads := map[chain.Stream]chain.Head{stream("w"): {Hash: hash("head"), Count: 3}}
	const link = "/chain/previous_receipt_hash"
	for what, c := range map[string]struct {
		drafts []string
		want   string // draft, pointer, and code of each problem
	}{
		"none":                    {[]string{good(0), good(1)}, ""},
		"the head, stated":        {[]string{with(0, `"chain":{"previous_receipt_hash":"`+hash("head").String()+`"}`), good(1)}, ""},
		"root":                    {[]string{with(0, `"chain":{"merkle_root":"`+digest+`"}`), good(1)}, "0 /chain/merkle_root schema_invalid"},
		"null root":               {[]string{with(0, `"chain":{"merkle_root":null}`)}, "0 /chain/merkle_root schema_invalid, 0 /chain/merkle_root schema_invalid"},
		"another head":            {[]string{with(0, `"chain":{"previous_receipt_hash":"`+digest+`"}`)}, "0 " + link + " chain_break"},
		"no head":                 {[]string{with(0, `"chain":{"previous_receipt_hash":null}`)}, "0 " + link + " chain_break"},
		"link inside":             {[]string{good(0), with(1, `"chain":{"previous_receipt_hash":"`+digest+`"}`)}, "1 " + link + " chain_break"},
		"the head, for two":       {[]string{good(0), with(1, `"chain":{"previous_receipt_hash":"`+hash("head").String()+`"}`)}, "1 " + link + " chain_break"},
		"null inside":             {[]string{good(0), with(1, `"chain":{"previous_receipt_hash":null}`)}, "1 " + link + " chain_break"},
		"repeated":                {[]string{good(0), good(1), content(name(0), "other")}, "2 /receipt_id repeated_id"},
		"repeated, escaped":       {[]string{good(0), strings.Replace(good(0), `:"receipt_0`, `:"\u0072eceipt_0`, 1)}, "1 /receipt_id repeated_id"},
		"repeated, thrice":        {[]string{good(0), good(0), good(0)}, "1 /receipt_id repeated_id, 2 /receipt_id repeated_id"},
		"sealed":                  {[]string{with(0, `"chain":{"previous_receipt_hash":null,"receipt_hash":"`+digest+`"}`)}, "0 /chain/receipt_hash schema_invalid, 0 " + link + " chain_break"},
		"signed":                  {[]string{with(0, `"signatures":[]`)}, "0 /signatures schema_invalid"},
		"no object":               {[]string{`[]`, good(1), `1`}, "0  not_object, 2  not_object"},
		"chain is no object":      {[]string{with(0, `"chain":[]`)}, "0 /chain schema_invalid"},
		"unknown member of chain": {[]string{with(0, `"chain":{"x":1}`)}, "0 /chain/x schema_invalid"},
		"two drafts": {[]string{strings.Replace(good(0), `"total":0`, `"total":"0"`, 1), good(1), strings.Replace(good(2), `"subject":{"id":"t","object":"task"},`, ``, 1)},
			"0 /cost/total schema_invalid, 2  schema_invalid"},
		"everything at once": {[]string{good(0), with(0, `"x":1,"chain":{"merkle_root":"`+digest+`","previous_receipt_hash":null}`), good(2), with(3, `"y":2,"z":9007199254740993`)},
			"1 /chain/merkle_root schema_invalid, 1 " + link + " chain_break, 1 /receipt_id repeated_id, 1 " + link + " chain_break, 3 /z number_precision, 3 /y schema_invalid, 3 /z schema_invalid"},
	} {
		var list []*canon.Document
		for _, text := range c.drafts {
			list = append(list, parse(t, text))
		}
		b, err := batch.Seal(context.Background(), list, heads, nil)
		if (b == nil) != (c.want != "") || (err != nil) != (c.want != "") {
			t.Errorf("%s: %v, %v", what, b, err)
		}
		if got := strings.Join(problems(t, err), ", "); got != c.want {
			t.Errorf("%s: %s\nwant %s", what, got, c.want)
		}
	}
}

// problems lists the problems of all drafts in a joined error.
func problems(t *testing.T, err error) (list []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("not joined: %v", err)
	}
	for _, err := range joined.Unwrap() {
		var invalid *receipt.InvalidError
		if !errors.As(err, &invalid) {
			t.Fatalf("%T: %v", err, err)
		}
		for _, p := range invalid.Problems {
			list = append(list, fmt.Sprintf("%d %s %s", err.(*batch.DraftError).Index, p.Pointer, p.Code))
		}
	}
	return list
}

// TestDeepDraft verifies that a draft that was parsed with a higher depth limit is rejected.
func TestDeepDraft(t *testing.T) {
	deep := new(canon.Document)
	text := `{"deep":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `,` + content(name(0), "w")[1:]
	if err := deep.Parse([]byte(text), canon.Limits{Depth: 3000}); err != nil {
		t.Fatal(err)
	}
	list := []*canon.Document{parse(t, content(name(0), "w")), deep}
	b, err := batch.Seal(context.Background(), list, nil, nil)
	if got := problems(t, err); b != nil || len(got) != 2 || got[0] != "1 /receipt_id repeated_id" || !strings.HasSuffix(got[1], " depth_limit") {
		t.Errorf("%q", got)
	}
}

func TestProblemsText(t *testing.T) {
	list := []*canon.Document{parse(t, content(name(0), "w")), parse(t, content(name(0), "w")), parse(t, `{"chain":{"merkle_root":1}}`)}
	_, err := batch.Seal(context.Background(), list, nil, nil)
	const want = `batch: draft 1: receipt: the draft cannot be sealed: 1 problem
repeated_id: draft 0 has the same receipt_id; a batch has each receipt once at "/receipt_id"
batch: draft 2: receipt: the draft cannot be sealed: `
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), `
schema_invalid: a draft must not state a root, because the batch adds it at "/chain/merkle_root"
`) {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestLimits(t *testing.T) {
	for n, want := range map[int]string{
		0:                    "batch: no receipts; a batch has at least one",
		batch.MaxEntries + 1: "batch: 65537 receipts, a batch has at most 65536",
	} {
		b, err := batch.Seal(context.Background(), make([]*canon.Document, n), nil, nil)
		if b != nil || err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// Three IDs of 11 MB each are valid, but no reader would accept a manifest that lists them.
	var list []*canon.Document
	for _, letter := range []string{"a", "b", "c"} {
		list = append(list, parse(t, content(strings.Repeat(letter, 11<<20+1<<18), "w")))
	}
	if b, err := batch.Seal(context.Background(), list, nil, nil); b != nil || err == nil || !strings.Contains(err.Error(), "the maximum is 33554432") {
		t.Errorf("%.200v", err)
	}
}
