package cli_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestInterrupted verifies that an error caused by a canceled context is reported as interrupted.
func TestInterrupted(t *testing.T) {
	err := cli.Usage("", "%q: %w", "a.db", fmt.Errorf("opening the tables: %w", context.Canceled))
	if err.Error() != `"a.db": interrupted` || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := cli.Usage("", "%w, %d", errors.New("other"), 1); err.Error() != "other, 1" {
		t.Errorf("%v", err)
	}
}
