package protocol

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
)

// TestCursor verifies that a formatted cursor can be parsed, but only for the list for which it was
// created.
func TestCursor(t *testing.T) {
	for n := 1; n <= 255; n++ {
		last := bytes.Repeat([]byte{byte(n)}, n)
		cursor := FormatCursor("a", last)
		got, err := ParseCursor("a", cursor)
		if err != nil || !bytes.Equal(got, last) || len(cursor) > maxCursor {
			t.Fatalf("%d bytes: %x, %v, %d characters", n, got, err, len(cursor))
		}
		if got, err := ParseCursor("b", cursor); err == nil || got != nil || errorOf(err).status() != 400 {
			t.Fatalf("of another list: %x, %v", got, err)
		}
	}
	if FormatCursor("a", nil) != "" || FormatCursor("a", make([]byte, 256)) != "" {
		t.Error("FormatCursor returned a cursor for an empty or oversized value")
	}
	if last, err := ParseCursor("a", ""); last != nil || err != nil {
		t.Errorf("no cursor: %x, %v", last, err)
	}
	old := base64.RawURLEncoding.EncodeToString([]byte{1, 2, 3})
	if _, err := ParseCursor("a", old); err == nil || errorOf(err).status() != 410 {
		t.Errorf("of an earlier form: %v", err)
	}
}

// FuzzCursor verifies that an accepted cursor equals the cursor that is formatted for its list and
// item.
func FuzzCursor(f *testing.F) {
	good := FormatCursor("list", []byte("task_1"))
	for _, seed := range []string{"", good, good + "=", good[1:], "AQ", "AAAA", "\r\n" + good, strings.ToUpper(good), strings.Repeat("A", 600)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		last, err := ParseCursor("list", cursor)
		switch {
		case err != nil && last != nil:
			t.Errorf("%q: %x with %v", cursor, last, err)
		case err != nil:
			if status := errorOf(err).status(); status != 400 && status != 410 {
				t.Errorf("%q: %v", cursor, err)
			}
		case cursor != "" && FormatCursor("list", last) != cursor:
			t.Errorf("%q is accepted as %q", cursor, FormatCursor("list", last))
		}
	})
}
