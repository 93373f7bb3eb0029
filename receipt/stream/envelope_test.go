package stream_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// deepReceipt returns a receipt whose nesting reaches the maximum depth or exceeds it by one level.
func deepReceipt(t *testing.T, levels int) []byte {
	t.Helper()
	w := newWriter(t, "a")
	d := w.draft()
	var deep any = 1
	for range levels - 2 { // two levels are used by the receipt and its metadata
		deep = []any{deep}
	}
	d.Metadata = receipt.Object{"deep": deep}
	s, err := receipt.Seal(d, w.head)
	if err != nil {
		t.Fatal(err)
	}
	return s.JSON()
}

// TestLimitsAreOfReceipts verifies that the limits on depth, size, and precision apply to the
// receipt inside an envelope.
func TestLimitsAreOfReceipts(t *testing.T) {
	deepest := deepReceipt(t, receipt.MaxDepth)
	doc, err := canon.Parse(deepest)
	if err != nil || doc.Depth() != receipt.MaxDepth {
		t.Fatal(err, doc.Depth())
	}
	tooDeep := bytes.Replace(deepest, []byte("[1]"), []byte("[[1]]"), 1)
	lossy := bytes.Replace(deepest, []byte("[1]"), []byte("[9007199254740993]"), 1)
	large := filled(t, receipt.MaxBytes)
	tooLarge := append(bytes.Clone(large), ' ')
	wrap := func(r string) string {
		return `{"a":` + deepArray(300) + `,"n":9007199254740993,"wire":{"payload":` + r + `,"x":1e300}}`
	}
	page := func(r string) string { return `{"object":"list","next":9007199254740993,"data":[` + r + `]}` }
	for name, c := range map[string]struct {
		receipt []byte
		want    string // result for the receipt without an envelope
	}{
		"deepest":  {deepest, "verified 1/0/0"},
		"too deep": {tooDeep, "refuted 0/1/0; depth_limit"},
		"lossy":    {lossy, "refuted 0/1/0; number_precision"},
		"large":    {large, "verified 1/0/0"},
	} {
		for form, around := range map[string]string{
			"alone":                   "RECEIPT",
			"an envelope":             wrap("RECEIPT"),
			"an array":                "[RECEIPT]",
			"a page":                  page("RECEIPT"),
			"an array of envelopes":   "[" + wrap("RECEIPT") + "]",
			"a page of envelopes":     page(wrap("RECEIPT")),
			"an envelope in lines":    wrap("RECEIPT") + "\n",
			"a page, indented":        strings.ReplaceAll(page("RECEIPT"), ",", ",\n "),
			"an envelope, line break": "{\n" + wrap("RECEIPT")[1:],
		} {
			if name == "large" && !testsize.Full() && form != "alone" && form != "a page of envelopes" {
				continue
			}
			before, behind, _ := strings.Cut(around, "RECEIPT")
			in := text(before, c.receipt, behind)
			for joined, r := range map[string]result{"one": verify(t, in, stream.Options{}),
				"two": verifyFiles(t, stream.Options{}, source("x", in), source("y", in))} {
				s := r.summary
				got := fmt.Sprintf("%v %d/%d/%d", s.Verdict(), s.Verified, s.Refuted, s.Undecided)
				for code := range s.Codes {
					got += "; " + string(code)
				}
				want := c.want
				if joined == "two" && s.Refuted == 2 {
					want = strings.Replace(want, "0/1/0", "0/2/0", 1)
				}
				if got != want || r.err != nil {
					t.Errorf("%s as %s, %s: %s (%v), want %s", name, form, joined, got, r.err, want)
				}
			}
		}
	}
	// Read must return the same document that the verifier checks.
	before, behind, _ := strings.Cut(wrap("RECEIPT"), "RECEIPT")
	for _, c := range []struct {
		in   []byte
		want bool
	}{
		{text(before, deepest, behind), true}, {text(page(wrap(string(deepest)))), true}, {text(before, tooDeep, behind), false}, {text(before, lossy, behind), false},
		{tooLarge, false}, {text(before, large, behind), true}, {text(`{"wire":{"payload":{"a":1}},"chain":{},"n":9007199254740993}`), false},
	} {
		var failure error
		for _, err := range stream.Read(t.Context(), []stream.Source{source("x", c.in)}, stream.Options{}) {
			failure = err
		}
		if (failure == nil) != c.want {
			t.Errorf("%.80s: %v", c.in, failure)
		}
	}
}

// TestHostileEnvelopes verifies that malformed and truncated envelopes are errors.
func TestHostileEnvelopes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"deeper than any":    {`{"a":` + deepArray(canon.MaxDepth) + `,"wire":{"payload":{}}}`, "depth_limit"},
		"larger than any":    {`{"a":"` + strings.Repeat("x", receipt.MaxBytes+stream.MaxWrapping) + `","wire":{"payload":{}}}`, "size_limit"},
		"payload of nothing": {`{"n":9007199254740993,"wire":{"payload":{}}}`, "not_a_receipt"},
		"payload no object":  {`{"n":9007199254740993,"wire":{"payload":[1]}}`, "number_precision"},
		"a receipt as well":  {`{"n":9007199254740993,"chain":{},"wire":{"payload":{}}}`, "number_precision"},
		"twice":              {`{"wire":{"payload":{}},"wire":{"payload":{}}}`, "duplicate_name"},
		"nested":             {`{"wire":{"payload":{"wire":{"payload":{"chain":{}}}}}}`, "not_a_receipt"},
	} {
		r := verify(t, []byte(c.text), stream.Options{})
		if r.summary.Refuted != 1 || r.summary.Codes[receipt.Code(c.want)] != 1 {
			t.Errorf("%s: %v, want %s", name, r, c.want)
		}
	}
}

func deepArray(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// filled returns a receipt that is size bytes long.
func filled(t *testing.T, size int) []byte {
	t.Helper()
	w := newWriter(t, "a")
	d := w.draft()
	seal := func(n int) []byte {
		d.Metadata = receipt.Object{"pad": strings.Repeat("x", n)}
		s, err := receipt.Seal(d, w.head)
		if err != nil {
			t.Fatal(err)
		}
		return s.JSON()
	}
	text := seal(size - len(seal(0)))
	if len(text) != size {
		t.Fatal(len(text))
	}
	return text
}

// TestLargePages verifies that a page may contain any number of receipts but needs the memory of
// only one. Faults in the frame of a page must refute the input, regardless of the encoding. Except
// at full size, the test uses one page of each kind: valid, without a list, malformed, too large,
// and truncated.
func TestLargePages(t *testing.T) {
	few := []string{"object last", "members around", "no list", "malformed behind", "too large an item", "cut in an entry"}
	w := newWriter(t, "a")
	list := w.many(6)
	entry, entries := list[5], 22_000 // together, larger than any document may be
	if !testsize.Full() {             // as many bytes, but in fewer entries
		entry, entries = padded(entry, 8<<10), 2_500
	}
	more := func() io.Reader { return &repeated{text: append([]byte{','}, entry...), n: entries} }
	head := bytes.Join(list, []byte(","))
	for name, c := range map[string]struct{ before, behind, want string }{
		"object first":      {`{"object":"list","data":[`, `]}`, "verified"},
		"object last":       {`{"data":[`, `],"object":"list"}` + "\n", "verified"},
		"members around":    {`{"a":{"data":[1]},"b":"data","object":"list","data":[`, `],"has_more":false,"next":9007199254740993}`, "verified"},
		"white space":       {" {\n\"object\" : \"list\",\n \"data\" :\t[", "\n]\n}\n", "verified"},
		"no list":           {`{"object":"lists","data":[`, `]}`, "size_limit"},
		"no object":         {`{"data":[`, `]}`, "size_limit"},
		"data twice":        {`{"object":"list","data":[`, `],"data":[]}`, "duplicate_name"},
		"malformed behind":  {`{"object":"list","data":[`, `],}`, "syntax"},
		"malformed before":  {`{"object":"list",,"data":[`, `]}`, "syntax"},
		"a comma too many":  {`{"object":"list","data":[`, `,]}`, "syntax"},
		"something behind":  {`{"object":"list","data":[`, `]}{}`, "trailing_data"},
		"too much behind":   {`{"object":"list","data":[`, `],"a":"` + strings.Repeat("x", stream.MaxWrapping) + `"}`, "size_limit"},
		"cut in an entry":   {`{"object":"list","data":[`, `,{"schema":`, "torn_tail"},
		"cut behind":        {`{"object":"list","data":[`, `],"a`, "torn_tail"},
		"another receipt":   {`{"object":"list","data":[{},`, `]}`, "not_a_receipt"},
		"too large an item": {`{"object":"list","data":[`, `,"` + strings.Repeat("x", receipt.MaxBytes+stream.MaxWrapping) + `"]}`, "size_limit"},
	} {
		if !testsize.Full() && !slices.Contains(few, name) {
			continue
		}
		run := stream.Verify(t.Context(), integrity(t), io.MultiReader(strings.NewReader(c.before), bytes.NewReader(head), more(), strings.NewReader(c.behind)), stream.Options{})
		var peak, m runtime.MemStats
		n := 0
		for range run.Reports() {
			if n++; n%(entries/5) == 0 {
				runtime.GC()
				if runtime.ReadMemStats(&m); m.HeapAlloc > peak.HeapAlloc {
					peak = m
				}
			}
		}
		s, err := run.Summary()
		good := s.Verdict() == receipt.Verified && s.Receipts == len(list) && s.Copies == entries
		if c.want != "verified" {
			good = s.Verdict() != receipt.Verified && s.Codes[receipt.Code(c.want)] == 1
		}
		if !good || err != nil {
			t.Errorf("%s: %v %d receipts, %d copies, codes %v (%v), want %s", name, s.Verdict(), s.Receipts, s.Copies, s.Codes, err, c.want)
		}
		if peak.HeapAlloc > 128<<20 {
			t.Errorf("%s: %d MB", name, peak.HeapAlloc>>20)
		}
	}
}

// A repeated value is a reader that returns n copies of a string.
type repeated struct {
	text []byte
	n    int
	rest []byte
}

func (r *repeated) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// TestEnvelopeNote verifies that the report on a receipt states that its API envelope was not
// checked, if there is one.
func TestEnvelopeNote(t *testing.T) {
	r := newWriter(t, "a").many(1)[0]
	for _, wrapped := range []bool{false, true} {
		input := r
		if wrapped {
			input = text(`{"wire":{"payload":`, r, `}}`)
		}
		for rep := range stream.Verify(t.Context(), integrity(t), bytes.NewReader(input), stream.Options{}).Reports() {
			noted := slices.ContainsFunc(rep.NotChecked, func(n receipt.Note) bool {
				return n == receipt.Note{Code: receipt.CodeEnvelopeNotChecked, Pointer: "/wire/payload", Detail: "the API envelope is not protected by the hash"}
			})
			if noted != wrapped || rep.Verdict != receipt.Verified {
				t.Errorf("wrapped %t: %v, %v", wrapped, rep.Verdict, rep.NotChecked)
			}
		}
	}
}
