package commands

import (
	"context"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestAwait verifies that the exit code of a completed run becomes the exit code of the command.
func TestAwait(t *testing.T) {
	done := make(chan int, 1)
	done <- cli.ExitRefuted
	if code := await(context.Background(), nil, done, nil, nil); code != cli.ExitRefuted {
		t.Errorf("exit %d, expected %d", code, cli.ExitRefuted)
	}
}
