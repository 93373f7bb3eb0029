package commands

import (
	"context"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestAwait verifies that a run that has ended determines the exit code.
func TestAwait(t *testing.T) {
	done := make(chan int, 1)
	done <- cli.ExitRefuted
	if code := await(context.Background(), nil, done, nil, nil); code != cli.ExitRefuted {
		t.Errorf("exit %d, expected %d", code, cli.ExitRefuted)
	}
}
