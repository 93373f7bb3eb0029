package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestWidth: on a terminal of 80 columns nothing for a person is wider, with colour and
// without; in a pipe every value is whole.
func TestWidth(t *testing.T) {
	const keys = "../../fixtures/keys/trust.json"
	commands := [][]string{{"--help"}, {"keys", "list", keys}, {"explain", "hash_mismatch"}}
	for _, c := range some(cases(t)) {
		commands = append(commands, []string{"verify", "--keys", keys, fixturePath(c)}, []string{"show", fixturePath(c)})
	}
	commands = append(commands, []string{"verify", "--keys", keys, "../../fixtures/malicious"})
	err := eachCommand(newRoot(testEnv(io.Discard, io.Discard)), func(cmd *cobra.Command) error {
		commands = append(commands, append(strings.Fields(cmd.CommandPath())[1:], "--help"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	colours := regexp.MustCompile("\x1b\\[[0-9]+m")
	whole := 0
	for _, args := range commands {
		for _, when := range []string{"always", "never"} {
			var out bytes.Buffer
			e := testEnv(&out, io.Discard)
			e.Terminal, e.Width, e.Messages = true, 80, messagesOnce
			run(context.Background(), append(args, "--color", when), e)
			for line := range strings.Lines(colours.ReplaceAllString(out.String(), "")) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%q: a line of %d columns: %s", args, n, line)
				}
			}
		}
		if _, out, _ := command(nil, args...); regexp.MustCompile("hash +sha256:[0-9a-f]{64}").MatchString(out) {
			whole++
		}
	}
	if whole < 10 {
		t.Errorf("%d whole digests in a pipe", whole)
	}
}
