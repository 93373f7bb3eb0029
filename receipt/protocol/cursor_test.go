package protocol_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestCursor: what is formatted is parsed, for the list that it is of alone.
func TestCursor(t *testing.T) {
	for n := 1; n <= 255; n++ {
		last := bytes.Repeat([]byte{byte(n)}, n)
		cursor := protocol.FormatCursor("a", last)
		got, err := protocol.ParseCursor("a", cursor)
		if err != nil || !bytes.Equal(got, last) || len(cursor) > protocol.MaxCursor {
			t.Fatalf("%d bytes: %x, %v, %d characters", n, got, err, len(cursor))
		}
		if got, err := protocol.ParseCursor("b", cursor); err == nil || got != nil || protocol.ErrorOf(err).HTTPStatus() != 400 {
			t.Fatalf("of another list: %x, %v", got, err)
		}
	}
	if protocol.FormatCursor("a", nil) != "" || protocol.FormatCursor("a", make([]byte, 256)) != "" {
		t.Error("a cursor behind nothing, or too much")
	}
	if last, err := protocol.ParseCursor("a", ""); last != nil || err != nil {
		t.Errorf("no cursor: %x, %v", last, err)
	}
	old := base64.RawURLEncoding.EncodeToString([]byte{1, 2, 3})
	if _, err := protocol.ParseCursor("a", old); err == nil || protocol.ErrorOf(err).HTTPStatus() != 410 {
		t.Errorf("of an earlier form: %v", err)
	}
}

// FuzzCursor: a cursor that is taken is the one that is given out for what it names.
func FuzzCursor(f *testing.F) {
	good := protocol.FormatCursor("list", []byte("task_1"))
	for _, seed := range []string{"", good, good + "=", good[1:], "AQ", "AAAA", "\r\n" + good, strings.ToUpper(good), strings.Repeat("A", 600)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		last, err := protocol.ParseCursor("list", cursor)
		switch {
		case err != nil && last != nil:
			t.Errorf("%q: %x with %v", cursor, last, err)
		case err != nil:
			if status := protocol.ErrorOf(err).HTTPStatus(); status != 400 && status != 410 {
				t.Errorf("%q: %v", cursor, err)
			}
		case cursor != "" && protocol.FormatCursor("list", last) != cursor:
			t.Errorf("%q is taken for %q", cursor, protocol.FormatCursor("list", last))
		}
	})
}
