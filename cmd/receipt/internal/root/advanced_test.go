package root

import (
	"io"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestShared verifies that each flag whose description is shared appears with the same usage in the
// help of its home command, and that the help of other commands refers to that command.
func TestShared(t *testing.T) {
	e := &cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}
	root := newRootFor(e, nil)
	var help strings.Builder
	for _, c := range root.Commands() {
		for _, sub := range append(c.Commands(), c) {
			if sub.Hidden || c.Hidden {
				continue
			}
			sub.SetOut(&help)
			if err := sub.Help(); err != nil {
				t.Fatal(err)
			}
		}
	}

	for _, d := range shared {
		cmd, _, err := root.Find(strings.Fields(d.home)[1:])
		if err != nil || cmd.CommandPath() != d.home {
			t.Fatalf("%s: %v", d.home, err)
		}
		if f := cmd.Flags().Lookup(d.name); f == nil || !strings.HasPrefix(f.Usage, d.usage) {
			t.Errorf("%s does not describe --%s as %q", d.home, d.name, d.usage)
		}

		refers := false
		for line := range strings.Lines(help.String()) {
			names, ok := strings.CutPrefix(line, "  see "+strings.TrimPrefix(d.home, "receipt ")+": ")
			refers = refers || ok && strings.Contains(names+",", "--"+d.name)
		}
		if !refers {
			t.Errorf("no command refers to --%s of %s", d.name, d.home)
		}
	}
}
