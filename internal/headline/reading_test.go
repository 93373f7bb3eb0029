package headline_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/headline"
)

// TestUnread verifies that unread records are stated in a row, which every format shows.
func TestUnread(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "",
		`{"metadata":{"ignored_records":{"a":0,"b":"x"}}}`: "",
		`{"metadata":{"ignored_records":{"a":1}}}`:         "1 record of 1 unknown type was not read: a",
		`{"metadata":{"ignored_records":{"a":1,"b":2}}}`:   "3 records of 2 unknown types were not read: a, b",
	} {
		doc, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, row := range headline.Read(doc.Root()).Headline().Rows {
			if row.Label == "Not read" {
				got = row.Text.String()
			}
		}
		if got != want {
			t.Errorf("%s: %q, expected %q", text, got, want)
		}
	}
}
