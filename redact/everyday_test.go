package redact_test

import (
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
)

// TestEveryday verifies that the shared policy is compiled only once per process and finds the same
// secrets as the default rules.
func TestEveryday(t *testing.T) {
	shared, err := redact.Everyday()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := redact.Everyday(); again != shared || err != nil {
		t.Errorf("it is made again, %v", err)
	}

	own, err := redact.Default().Compile()
	if err != nil {
		t.Fatal(err)
	}
	draft := parse(t, `{"metadata":{"password":"correct-horse-9","t":`+quote("see "+githubToken)+`}}`)
	if found := shared.Find(draft); len(found) < 2 || !slices.Equal(found, own.Find(draft)) {
		t.Errorf("found %v, expected %v", found, own.Find(draft))
	}
}
