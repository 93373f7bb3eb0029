package schemas_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/schemas"
)

// TestDateTimeSuite verifies the member issued_at with the cases in the JSON Schema test suite. The
// suite accepts values that are not strings. In the receipt schema, the type excludes such values,
// and the format must not report them a second time.
func TestDateTimeSuite(t *testing.T) {
	file := filepath.Join(vectors.Dir(t, "json-schema-suite"), "tests/draft2020-12/optional/format/date-time.json")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Tests []struct {
			Description string
			Data        any
			Valid       bool
		}
	}
	if err := json.Unmarshal(src, &groups); err != nil {
		t.Fatal(err)
	}
	s, receipt := must(t, schemas.Receipt), fullReceipt(t)
	cases := 0
	for _, g := range groups {
		for _, c := range g.Tests {
			cases++
			got := check(t, s, text(t, put(receipt, []string{"issued_at"}, c.Data)))
			disputed := slices.ContainsFunc(got.Problems, func(p schemas.Problem) bool { return p.Keyword == "format" })
			if _, isText := c.Data.(string); disputed == c.Valid || isText && (got.Total == 0) != c.Valid {
				t.Errorf("%s: %q: want %t, got %v", c.Description, c.Data, c.Valid, got.Problems)
			}
		}
	}
	if cases != 33 {
		t.Errorf("%d cases, want 33", cases)
	}
}
