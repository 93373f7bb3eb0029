package stream_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func documentSource(name, text string) stream.Source {
	return stream.Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// documentsOf returns the address and the canonical text of each document, and the error.
func documentsOf(sources ...stream.Source) (list []string, err error) {
	for d, err := range stream.Read(context.Background(), sources, stream.Options{}) {
		if err != nil {
			return list, err
		}
		text := d.Address() + " " + string(d.AppendCanonical(nil))
		if d.Other != "" {
			text = d.Address() + " is " + d.Other
		}
		list = append(list, text)
	}
	return list, nil
}

func TestDocuments(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"c":3}`))
	if err != nil {
		t.Fatal(err)
	}
	item, err := archive.NewCodec().Append(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	keySet := documentSource("k", `{"keys":[]}`)
	keySet.Found = true
	list, err := documentsOf(
		documentSource("one", "{\"b\":2,\n\"a\":1}"),
		documentSource("lines", "{\"a\":1}\n\n{\"a\":2}\r\n{\"a\":3}"),
		documentSource("array", `[{"a":1},{"a":2}]`),
		documentSource("page", `{"object":"list","data":[{"a":1}]}`),
		documentSource("envelope", `{"wire":{"payload":{"inner":true}}}`),
		documentSource("s.cborseq", string(item)+string(item)),
		keySet,
	)
	want := []string{`one {"a":1,"b":2}`, `lines:1 {"a":1}`, `lines:3 {"a":2}`, `lines:4 {"a":3}`, `array:1 {"a":1}`, `array:2 {"a":2}`,
		`page:1 {"a":1}`, `envelope {"inner":true}`, `s.cborseq:1 {"c":3}`, `s.cborseq:2 {"c":3}`, "k is a key set"}
	if err != nil || strings.Join(list, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %s\nerror %v", strings.Join(list, "\n"), err)
	}
}

// TestDocumentsRefuse verifies that Read yields the documents that precede a fault, and none that
// follow it.
func TestDocumentsRefuse(t *testing.T) {
	const good = "{\"a\":1}\n"
	for _, c := range []struct {
		text    string
		code    receipt.Code
		address string
	}{
		{good + "{\"a\":1,\"a\":2}\n" + good, "duplicate_name", "in:2"},
		{good + "{\"a\":9007199254740993}\n" + good, receipt.CodeNumberPrecision, "in:2"},
		{good + "[1]\n" + good, receipt.CodeNotObject, "in:2"},
		{good + "{\"a\"}\n" + good, receipt.CodeSyntax, "in:2"},
		{good + "{\"a\":1", receipt.CodeTornTail, "in:2"},
		{good + "{\"a\":" + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}\n", receipt.CodeDepthLimit, "in:2"},
		{good + "\xef\xbb\xbf{}\n", receipt.CodeSyntax, "in:2"},
		{`[{"a":1},{"a":2}`, receipt.CodeTornTail, "in:2"},
		{"\xa1\x61\x61\x01\xa1\x61\x61\xf9\x40\x00", "non_deterministic_cbor", "in:2"},
	} {
		list, err := documentsOf(documentSource("in", c.text), documentSource("after", "{}"))
		var bad *stream.DocumentError
		if !errors.As(err, &bad) || bad.Code != c.code || bad.Address != c.address || bad.Detail == "" {
			t.Errorf("%.40q: %v, expected %s at %s", c.text, err, c.code, c.address)
		}
		if c.code != receipt.CodeTornTail && len(list) != 1 {
			t.Errorf("%.40q: %d documents before the fault, expected 1", c.text, len(list))
		}
	}
}

func TestDocumentsUnreadable(t *testing.T) {
	broken := errors.New("broken")
	for want, source := range map[stream.Notice]stream.Source{
		{Source: "in", Detail: "contains no receipt", Hint: "it is empty, or an empty list: check the path, or the program that writes it"}: documentSource("in", " \n"),
		{Source: "in", Detail: "broken"}: {Name: "in", Open: func() (io.ReadCloser, error) { return nil, broken }},
	} {
		_, err := documentsOf(documentSource("before", "{}"), source, documentSource("after", "{}"))
		var incomplete *stream.IncompleteError
		if !errors.As(err, &incomplete) || incomplete.Notices[0] != want {
			t.Errorf("%+v: %v", want, err)
		}
	}
}

// TestDocumentsStop verifies that reading ends if the loop is left or the context is canceled, even
// if the input never arrives.
func TestDocumentsStop(t *testing.T) {
	for range stream.Read(context.Background(), []stream.Source{documentSource("in", strings.Repeat("{}\n", 1000))}, stream.Options{}) {
		break
	}
	hanging, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	source := stream.Source{Name: "pipe", Open: func() (io.ReadCloser, error) { return hanging, nil }}
	n := 0
	for _, err := range stream.Read(ctx, []stream.Source{source}, stream.Options{}) {
		if n++; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, expected %v", err, context.Canceled)
		}
	}
	if n != 1 {
		t.Errorf("%d steps, expected 1", n)
	}
}

// TestSourceIndex verifies that a single document in a source can be read without the others. The
// document must keep its address.
func TestSourceIndex(t *testing.T) {
	lines := documentSource("lines", "{\"a\":1}\n\nnot JSON\n{\"a\":3}\n{\"a\":4}")
	array := documentSource("array", `[{"a":1},{"a":2},3]`)
	for _, c := range []struct {
		source stream.Source
		index  int
		want   string
	}{
		{lines, 1, `lines:1 {"a":1}`},
		{lines, 4, `lines:4 {"a":3}`},
		{lines, 5, `lines:5 {"a":4}`},
		{array, 2, `array:2 {"a":2}`},
		{documentSource("one", `{"a":1}`), 1, `one {"a":1}`},
	} {
		c.source.Index = c.index
		list, err := documentsOf(c.source)
		if err != nil || len(list) != 1 || list[0] != c.want {
			t.Errorf("%s:%d: got %q, %v", c.source.Name, c.index, list, err)
		}
	}
	for _, index := range []int{2, 6} { // a blank line, and an index after the end
		lines.Index = index
		list, err := documentsOf(lines)
		if incomplete := (*stream.IncompleteError)(nil); !errors.As(err, &incomplete) || len(list) > 0 {
			t.Errorf("lines:%d: got %q, %v", index, list, err)
		}
	}
}

// TestReadKnowsKinds verifies that documents of other kinds are skipped. They are recognized by
// their beginning, which must fit into the buffer.
func TestReadKnowsKinds(t *testing.T) {
	list := newWriter(t, "a").many(2)
	sources := []stream.Source{
		{Name: "checkpoint", Found: true, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("log.example/1\n2\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— log.example/1 AAAAAAAA\n")), nil
		}},
		{Name: "receipts", Found: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(jsonl(list...)))), nil }},
	}
	var others []string
	for d, err := range stream.Read(t.Context(), sources, stream.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		others = append(others, d.Other)
	}
	if want := []string{"a signed checkpoint of a log", "", ""}; !slices.Equal(others, want) {
		t.Errorf("%q, want %q", others, want)
	}
}

// TestReadFirstLine verifies that Read yields the first line before the second line is written,
// provided that the caller specifies the kind.
func TestReadFirstLine(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	wrote := make(chan struct{})
	go func() {
		io.WriteString(out, "{\"a\":1}\n")
		<-wrote // the second line is written only after the first document has been read
		io.WriteString(out, "{\"a\":2}\n")
		out.Close()
	}()

	source := stream.Source{Name: "-", Kind: stream.Lines, Open: func() (io.ReadCloser, error) { return in, nil }}
	var list []string
	for d, err := range stream.Read(t.Context(), []stream.Source{source}, stream.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if list = append(list, d.Address()+" "+string(d.Document.Source())); len(list) == 1 {
			close(wrote)
		}
	}
	if want := []string{`-:1 {"a":1}`, `-:2 {"a":2}`}; !slices.Equal(list, want) {
		t.Errorf("got %q, want %q", list, want)
	}
}

// TestDocumentErrorPlace verifies that the line is reported only for a document of several lines.
func TestDocumentErrorPlace(t *testing.T) {
	for text, want := range map[string]string{"{\"a\" 1}": "column 6: ", "{\n\"a\" 1}": "line 2, column 5: "} {
		_, err := documentsOf(documentSource("in", text))
		var bad *stream.DocumentError
		if !errors.As(err, &bad) || !strings.HasPrefix(bad.Detail, want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}

// TestFindUnreadable verifies that the error of a source that cannot be opened is returned.
func TestFindUnreadable(t *testing.T) {
	broken := errors.New("broken")
	s := stream.Source{Name: "in", Open: func() (io.ReadCloser, error) { return nil, broken }}
	if text, err := s.Find(0, false); text != nil || !errors.Is(err, broken) {
		t.Errorf("%q, %v", text, err)
	}
}
