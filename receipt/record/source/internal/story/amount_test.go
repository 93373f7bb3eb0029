package story_test

import (
	"math"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// TestAmount verifies that an amount is converted to the shortest decimal text, and that anything
// else is converted to "".
func TestAmount(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 0.1: "0.1", 1e-7: "0.0000001", 1e12: "1000000000000", 1e12 + 1: "", -0.01: "", 1e-31: "", math.Inf(1): ""} {
		if got := story.Amount(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
	if got := story.Amount(math.NaN()); got != "" {
		t.Errorf("NaN: %q", got)
	}
}
