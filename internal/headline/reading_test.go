package headline_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/headline"
)

// TestUnread verifies that the headline, which is shown in every format, mentions unread records.
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
		if got := headline.Read(doc.Root()).Headline().Unread; got != want {
			t.Errorf("%s: %q, expected %q", text, got, want)
		}
	}
}
