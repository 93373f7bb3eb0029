package stream_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// source returns a Source with the given content.
func source(name string, content []byte) stream.Source {
	return stream.Source{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

// sources returns Sources with the names f0, f1, and so on.
func sources(contents ...[]byte) (list []stream.Source) {
	for i, c := range contents {
		list = append(list, source(fmt.Sprintf("f%d", i), c))
	}
	return list
}

func found(list []stream.Source) []stream.Source {
	for i := range list {
		list[i].Found = true
	}
	return list
}

func verifyFiles(t testing.TB, o stream.Options, list ...stream.Source) result {
	t.Helper()
	return collect(stream.VerifyFiles(context.Background(), integrity(t), list, o))
}

// TestFilesSkip verifies that a skipped document in a directory is not treated as a gap, so it does
// not excuse a break.
func TestFilesSkip(t *testing.T) {
	list := newWriter(t, "a").many(6)
	keys := []byte(`{"keys":[]}`)
	for _, c := range []struct {
		name string
		in   []stream.Source
		want string
	}{
		{"keys first", found(sources(keys, list[0], list[1])), "verified 2/0/0; a 2"},
		{"keys between", found(sources(list[0], keys, list[1])), "verified 2/0/0; a 2"},
		{"keys last", found(sources(list[1], list[0], keys)), "verified 2/0/0; a 2"},
		{"keys and a break", found(sources(list[0], keys, list[2])), "refuted 1/1/0; f2 chain_break; a 2"},
		{"keys beside a break", found(sources(keys, list[0], list[2])), "refuted 1/1/0; f2 chain_break; a 2"},
		{"keys of one named", sources(list[0], keys, list[1]), "refuted 2/1/0; f1 not_a_receipt; a 2"},
	} {
		r := verifyFiles(t, stream.Options{}, c.in...)
		expect(t, c.name, r, c.want)
		if c.in[0].Found && (r.summary.SkippedCount != 1 || len(r.summary.Skipped) != 1) {
			t.Errorf("%s: %d skipped: %v", c.name, r.summary.SkippedCount, r.summary.Skipped)
		}
	}
	one := jsonl(list[0], keys, list[2])
	in := source("one", one)
	in.Found = true
	expect(t, "keys among lines", verifyFiles(t, stream.Options{}, in), "refuted 1/1/0; one:3 chain_break; a 2")
}

// TestFilesEnvelopes verifies that both passes find the same receipt in an envelope, and in a
// document that only resembles an envelope.
func TestFilesEnvelopes(t *testing.T) {
	list := newWriter(t, "a").many(3)
	wrap := func(format string) []byte { return fmt.Appendf(nil, format, list[1]) }
	for _, c := range []struct{ name, format, want string }{
		{"envelope", `{"object":"receipt","wire":{"payload":%s}}`, "verified 3/0/0; a 3"},
		{"envelope of a receipt's marker", `{"schema":"receipt-2026-04-25","wire":{"payload":%s}}`, "refuted 2/1/0; f1 schema_invalid; f2 open; a 2"},
		{"envelope of another marker", `{"schema":"receipt-2027-01-01","wire":{"payload":%s}}`, "undecided 2/0/1; f1 unsupported_schema; f2 open; a 2"},
		{"imprecise envelope", `{"n":9007199254740993,"wire":{"payload":%s}}`, "verified 3/0/0; a 3"}, // the envelope is not hashed
		{"envelope in an envelope", `{"wire":{"payload":{"wire":{"payload":%s}}}}`, "refuted 2/1/0; f1 not_a_receipt; f2 open; a 2"},
	} {
		expect(t, c.name, verifyFiles(t, stream.Options{}, sources(list[0], wrap(c.format), list[2])...), c.want)
	}
}

// TestFilesLowLimits verifies that a receipt is undecided if it exceeds the caller's limits, but
// keeps its position in the stream.
func TestFilesLowLimits(t *testing.T) {
	list := newWriter(t, "a").many(3)
	large := bytes.Join([][]byte{list[1][:len(list[1])-1], bytes.Repeat([]byte(" "), 5000), []byte("}")}, nil)
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, Limits: canon.Limits{Bytes: 4000}})
	if err != nil {
		t.Fatal(err)
	}
	files := stream.VerifyFiles(context.Background(), v, sources(list[0], large, list[2]), stream.Options{})
	expect(t, "files", collect(files), "undecided 2/0/1; f1 size_limit; a 3")
	lines := stream.Verify(context.Background(), v, bytes.NewReader(jsonl(list[0], large, list[2])), stream.Options{})
	expect(t, "lines", collect(lines), "undecided 2/0/1; input:2 size_limit; a 3")
}

// TestCopiesOfUndecided verifies that copies are counted once, regardless of the verdict for the
// first copy.
func TestCopiesOfUndecided(t *testing.T) {
	v, err := receipt.NewVerifier(someTrust{}, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	list := newWriter(t, "a").many(2) // unsigned
	sources := []stream.Source{source("1", list[0]), source("2", list[1]), source("3", list[0])}
	s, err := stream.VerifyFiles(context.Background(), v, sources, stream.Options{}).Summary()
	if err != nil || s.Receipts != 2 || s.Undecided != 2 || s.Copies != 1 {
		t.Errorf("%d receipts, %d undecided, %d copies, %v", s.Receipts, s.Undecided, s.Copies, err)
	}
}

// someTrust contains one key, which no signature names.
type someTrust struct{}

func (someTrust) Len() int { return 1 }
func (someTrust) CheckSignature([]byte, *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	return nil, &receipt.SignatureError{Code: receipt.CodeUnknownKey}
}

// TestReportsExcuseNothing verifies that a skipped report in a directory does not excuse a missing
// receipt.
func TestReportsExcuseNothing(t *testing.T) {
	list := newWriter(t, "a").many(4)
	report := `{"report_version":1,"verdict":"verified","receipt_id":"x","checks":[]}` + "\n" + `{"summary":{}}` + "\n"
	for name, text := range map[string]string{"report": report, "keys": `{"keys":[]}`, "summary": `{"reports":[],"summary":{"report_version":1}}`} {
		beside := source("beside", []byte(text))
		beside.Found = true
		r := collect(stream.VerifyFiles(context.Background(), integrity(t), []stream.Source{
			source("1", list[0]), source("2", list[1]), beside, source("4", list[3])}, stream.Options{}))
		expect(t, name, r, "refuted 2/1/0; 4 chain_break; a 3")
		if r.summary.SkippedCount == 0 {
			t.Errorf("%s: nothing was skipped", name)
		}
	}
}

// TestFilesNotSkipped verifies that a document is not skipped as another file of the toolkit if it
// has the chain or the marker of a receipt, or if it has only some members of such a file.
func TestFilesNotSkipped(t *testing.T) {
	list := newWriter(t, "a").many(2)
	plus := func(doc []byte, member string) []byte { return text("{", member, ",", doc[1:]) }
	marker := []byte(`"schema":"receipt-2026-04-25"`)
	for _, c := range []struct {
		name string
		doc  []byte
		want string
	}{
		{"a receipt with keys", plus(list[1], `"keys":[]`), "refuted 1/1/0; f1 schema_invalid; a 2"},
		{"one without its marker", plus(bytes.Replace(list[1], marker, []byte(`"schema":"x"`), 1), `"keys":[]`), "refuted 1/1/0; f1 schema_invalid; a 1"},
		{"one without its place", []byte(`{"chain":{},"keys":[]}`), "refuted 1/1/0; f1 schema_invalid; a 1"},
		{"another marker", []byte(`{"schema":"receipt-2027-01-01","keys":[]}`), "undecided 1/0/1; f1 unsupported_schema; a 1"},
		{"one member", []byte(`{"x":1}`), "refuted 1/1/0; f1 not_a_receipt; a 1"},
		{"a summary and more", []byte(`{"summary":{},"x":1}`), "refuted 1/1/0; f1 not_a_receipt; a 1"},
		{"reports alone", []byte(`{"reports":[]}`), "refuted 1/1/0; f1 not_a_receipt; a 1"},
	} {
		r := verifyFiles(t, stream.Options{}, found(sources(list[0], c.doc))...)
		if r.summary.SkippedCount > 0 {
			t.Errorf("%s: skipped as %v", c.name, r.summary.Skipped)
		}
		if got := r.String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
