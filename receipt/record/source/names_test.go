package source_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// TestLongNames verifies that a log is not rejected because a string in it has the maximum length
// of recorded text, or is one byte longer. By default, the test changes each place in a kind of
// line only in the first log that contains the place; at full size, it changes the place in every
// log.
func TestLongNames(t *testing.T) {
	seen := map[string]bool{} // places in lines of a kind that contain text
	for _, name := range vectors.Files(t, 3, "testdata", "*.*json*") {
		values := valuesIn(t, readFile(t, name))
		for i := range values {
			eachPlace(kindOf(values[i]), values[i], func(at string, v any, set func(any)) {
				before, text := v.(string)
				if !text || seen[at] && !testsize.Full() && !strings.Contains(before, addFile) {
					return
				}
				seen[at] = true
				for _, long := range []string{strings.Repeat("n", event.MaxText), strings.Repeat("n", event.MaxText+1)} {
					set(long)
					if strings.Contains(before, addFile) { // its own name
						set(strings.Replace(before, addFile, addFile+long, 1))
					}
					if _, err := source.Read([]source.Input{{Name: "log", Reader: encoded(t, values)}}, options()); err != nil && !errors.Is(err, source.ErrUnknown) && !errors.Is(err, source.ErrEmpty) {
						t.Errorf("%s: a text of %d bytes in the place of %.60q: %v", name, len(long), before, err)
					}
				}
				set(before)
			})
		}
	}
}

// TestLongSession verifies that the task of an agent is named after its session, unless the name
// would be too long to be recorded.
func TestLongSession(t *testing.T) {
	log := strings.ReplaceAll(readFile(t, "testdata/agent-a1b2.jsonl"), "11111111-2222-4333-8444-555555555555", strings.Repeat("n", event.MaxText))
	got, err := source.Read([]source.Input{{Name: "log", Reader: strings.NewReader(log)}}, options())
	if err != nil || got.Draft.Identifiers.TaskID == "" || len(got.Draft.Identifiers.SessionID) != event.MaxText {
		t.Errorf("%+v, %v", got, err)
	}
}

const addFile = "*** Add File: "

func encoded(t *testing.T, values []any) io.Reader {
	t.Helper()
	var log bytes.Buffer
	for _, v := range values {
		if err := json.NewEncoder(&log).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return &log
}

// valuesIn returns the JSON values in a log.
func valuesIn(t *testing.T, log string) (values []any) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(log)); d.More(); {
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}
