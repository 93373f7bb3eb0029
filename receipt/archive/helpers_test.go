package archive_test

import (
	"encoding/hex"
	"errors"
	"hash/maphash"
	"testing"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

func read(tb testing.TB, file string) []byte {
	tb.Helper()
	text, err := fixtures.Read(file)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func parse[T ~string | ~[]byte](tb testing.TB, text T) *canon.Document {
	tb.Helper()
	doc, err := canon.Parse([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

func encode[T ~string | ~[]byte](tb testing.TB, c *archive.Codec, text T) []byte {
	tb.Helper()
	item, err := c.Append(nil, parse(tb, text))
	if err != nil {
		tb.Fatal(err)
	}
	return item
}

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// decode calls ToJSON and checks every result: an error is returned without a value and has the
// documented type and form, and the item is not modified.
func decode(tb testing.TB, c *archive.Codec, item []byte) ([]byte, *archive.ItemError) {
	tb.Helper()
	seed := maphash.MakeSeed()
	before := maphash.Bytes(seed, item)
	text, err := c.ToJSON(item)
	if maphash.Bytes(seed, item) != before {
		tb.Fatalf("%x: the item was changed to that", clip(item))
	}
	if err == nil {
		return text, nil
	}
	var refused *archive.ItemError
	if !errors.As(err, &refused) || text != nil {
		tb.Fatalf("%x: value %q, error %v", clip(item), text, err)
	}
	checkError(tb, refused, int64(len(item)))
	return nil, refused
}

func checkError(tb testing.TB, e *archive.ItemError, size int64) {
	tb.Helper()
	if e.Offset < 0 || e.Offset > size {
		tb.Errorf("%v: offset outside of %d bytes", e, size)
	}
	if e.Detail == "" || e.Code == "" || !utf8.ValidString(e.Error()) || len(e.Error()) > 1000 {
		tb.Errorf("code %q, error text %q", e.Code, e.Error())
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 200)] }

// refused fails unless the item is rejected with the given code.
func refused(tb testing.TB, c *archive.Codec, item []byte, code string) *archive.ItemError {
	tb.Helper()
	text, err := decode(tb, c, item)
	switch {
	case err == nil:
		tb.Fatalf("%x: accepted as %q, expected %s", clip(item), text, code)
	case err.Code != code:
		tb.Errorf("%x: got %s (%v), expected %s", clip(item), err.Code, err, code)
	}
	return err
}
