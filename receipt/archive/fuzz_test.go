package archive_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

func seeds(f *testing.F) (items [][]byte) {
	for _, r := range refusals() {
		item, err := hex.DecodeString(r.item)
		if err != nil {
			f.Fatal(err)
		}
		items = append(items, item)
	}
	c := archive.NewCodec()
	for _, file := range []string{"valid/task.json", "edge/nulls.json", "edge/utf16-order.json", "edge/number-spelling.json"} {
		items = append(items, encode(f, c, read(f, file)))
	}
	return append(items, unhex(f, "a36161fb3fc793dd97f62b6b61620262616183f6f520"))
}

// FuzzDecode verifies that the library and this package decode every accepted item and encode it as
// the same item.
func FuzzDecode(f *testing.F) {
	for _, item := range seeds(f) {
		f.Add(item)
	}
	c, o := archive.NewCodec(), newOracle()
	f.Fuzz(func(t *testing.T, item []byte) {
		text, refused := decode(t, c, item)
		if accepts := o.accepts(item); accepts != (refused == nil) {
			t.Fatalf("%x: %v; the library returns %v", item, refused, accepts)
		}
		if refused != nil {
			return
		}
		doc := parse(t, text)
		if !doc.IsCanonical() {
			t.Errorf("%s is not canonical", text)
		}
		if again, err := c.Append(nil, doc); err != nil || !bytes.Equal(again, item) {
			t.Errorf("%x comes back as %x, %v", item, again, err)
		}
	})
}

// FuzzRoundTrip verifies JSON that a receipt may contain. This package must decode it to its
// canonical form and encode it in the same way as the library does.
func FuzzRoundTrip(f *testing.F) {
	m, err := fixtures.Load()
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range m.Cases {
		f.Add(read(f, file.File))
	}
	for _, text := range []string{"-0", "[1.5,0.1,1e-7,9007199254740991]", `{"b":1,"aa":2,"":[{}]}`, "1e300", `"\ud83d\ude00"`} {
		f.Add([]byte(text))
	}
	c, o := archive.NewCodec(), newOracle()
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := canon.Parse(text)
		if err != nil {
			return
		}
		item, err := c.Append(nil, doc)
		if _, lossy := doc.LossyInteger(); (err != nil) != (lossy || doc.Depth() > receipt.MaxDepth) || err != nil && item != nil {
			t.Fatalf("%s: %x, %v", text, item, err)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(item, o.encode(doc.Root())) {
			t.Errorf("%s: %x, the library writes %x", text, item, o.encode(doc.Root()))
		}
		if back, refused := decode(t, c, item); refused != nil || !bytes.Equal(back, doc.AppendCanonical(nil)) {
			t.Errorf("%s: back as %s, %v", text, back, refused)
		}
	})
}

// FuzzReader verifies that this package splits a sequence in the same way as the library does,
// regardless of how the bytes arrive.
func FuzzReader(f *testing.F) {
	items := seeds(f)
	for i, item := range items {
		f.Add(append(bytes.Clone(item), items[(i+1)%len(items)]...), uint16(i))
	}
	f.Fuzz(func(t *testing.T, sequence []byte, size uint16) {
		whole := compareSplit(t, sequence)
		parts, err := pieces(t, &chunked{rest: sequence, size: 1 + int(size), idle: size%2 == 1})
		if len(parts) != len(whole) || (err == io.EOF) != (total(whole) == len(sequence)) {
			t.Fatalf("%d items and %v in pieces, %d at once", len(parts), err, len(whole))
		}
		for i := range parts {
			if !bytes.Equal(parts[i].bytes, whole[i].bytes) || parts[i].offset != whole[i].offset {
				t.Errorf("item %d differs in pieces", i+1)
			}
		}
	})
}

func total(all []piece) (n int) {
	for _, p := range all {
		n += len(p.bytes)
	}
	return n
}

// compareSplit compares the results of a Reader and the library for the same sequence, and returns
// the items.
func compareSplit(t *testing.T, sequence []byte) []piece {
	t.Helper()
	all, err := pieces(t, bytes.NewReader(sequence))
	items, libraryErr := split(libraryMode(), sequence)
	if len(all) != len(items) || (libraryErr == io.EOF) != (err == io.EOF) {
		t.Fatalf("%x: %d items and %v, by the library %d items and %v", clip(sequence), len(all), err, len(items), libraryErr)
	}
	for i := range all {
		if !bytes.Equal(all[i].bytes, items[i]) {
			t.Errorf("item %d: %x, by the library %x", i+1, clip(all[i].bytes), clip(items[i]))
		}
	}
	return all
}
