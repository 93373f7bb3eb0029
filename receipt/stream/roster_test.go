package stream_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestRosterOfAnotherStream verifies that a summary is rejected if its roster contains a stream
// that the summary does not list.
func TestRosterOfAnotherStream(t *testing.T) {
	s, err := stream.Verify(t.Context(), integrity(t), bytes.NewReader(jsonl(newWriter(t, "a").many(3)...)), stream.Options{}).Summary()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, new(stream.Summary)); err != nil {
		t.Fatal(err)
	}

	before, roster, found := strings.Cut(string(text), `"roster":`)
	edited := before + `"roster":` + strings.Replace(roster, `"workspace":"`, `"workspace":"other_`, 1)
	if !found || edited == string(text) {
		t.Fatalf("no roster in %s", text)
	}
	if err := json.Unmarshal([]byte(edited), new(stream.Summary)); err == nil || !strings.Contains(err.Error(), "its roster does not match the listed streams") {
		t.Errorf("%v", err)
	}
}
