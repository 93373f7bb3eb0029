package files

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// memoryFile is an in-memory file.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

// FuzzFiles verifies that each receipt that is indexed under an ID is served, contains that ID, and
// occurs in the file.
func FuzzFiles(f *testing.F) {
	const one, two = `{"receipt_id":"a","schema":"receipt-2026-04-25"}`, `{"chain":{},"receipt_id":"b","subject":{"object":"task","id":"t"}}`
	for _, seed := range []string{one, one + "\n" + two + "\n", "[" + one + " , " + two + "]", `{"object":"list","data":[` + two + `]}`,
		`{"wire":{"payload":` + one + `}}`, "\n\n{\"receipt_id\":\"a\",}\r\n" + two, "{\n \"receipt_id\" : \"a\"\n}\n", one + one,
		"\xa1jreceipt_idaa\xa1jreceipt_idab", "\xa1dwire\xa1gpayload\xa1jreceipt_idaa", "\x1f\x8b"} {
		f.Add([]byte(seed))
	}
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		x := newIndexer(v)
		source := stream.Source{Name: "f", Open: func() (io.ReadCloser, error) { return memoryFile{bytes.NewReader(content)}, nil }}
		if x.read(context.Background(), Options{}, []stream.Source{source}) != nil {
			return
		}
		index, err := x.finish()
		if err != nil {
			return
		}
		for _, p := range index.ids {
			e := index.entries.at(p.entry)
			stored, err := index.read(context.Background(), p.entry)
			if err != nil {
				t.Fatalf("%s: %v", index.address(e), err)
			}
			doc, err := canon.Parse(stored.JSON)
			id := serve.DamagedID(stored.JSON)
			if err == nil {
				id = doc.Root().Member("receipt_id").String()
			}
			if fingerprintOf(id) != p.key || index.sources[e.source].form == formJSON && !bytes.Contains(content, stored.JSON) {
				t.Fatalf("%s: %q was found, id %q", index.address(e), stored.JSON, id)
			}
		}
	})
}
