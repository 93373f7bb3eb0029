package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestArchiveTerminal verifies that JSON output is written to a terminal, but CBOR output is not.
func TestArchiveTerminal(t *testing.T) {
	for verb, want := range map[string]int{"pack": cli.ExitUsage, "unpack": cli.ExitVerified} {
		var out, message bytes.Buffer
		e := testEnv(&out, &message)
		e.Terminal = true
		code := run(context.Background(), []string{"archive", verb, "../../fixtures/valid/task.json"}, e)
		if code != want || (out.Len() > 0) != (want == cli.ExitVerified) {
			t.Errorf("%s: exit %d, %d bytes, %s", verb, code, out.Len(), &message)
		}
		if want == cli.ExitUsage && !strings.Contains(message.String(), "CBOR is not written to a terminal") {
			t.Errorf("%s: %s", verb, &message)
		}
	}
}
