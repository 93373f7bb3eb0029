package headline_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestFault verifies that each cause of the code chain_break has a name, and that different faults
// have different names.
func TestFault(t *testing.T) {
	for cause, want := range map[receipt.Cause]string{
		"predecessor_missing": "missing predecessor", "predecessor_other": "another predecessor", "predecessor_not_given": "another predecessor",
		"predecessor_elsewhere": "link into another stream", "second_first": "two beginnings", "predecessor_later": "wrong order",
		"comes_earlier": "wrong order", "named_earlier": "wrong order", "zero_hash": "no predecessor named", "": "", "predecessor_shared": "",
	} {
		if got := headline.Fault(cause); got != want {
			t.Errorf("%q: got %q, want %q", cause, got, want)
		}
	}
}
