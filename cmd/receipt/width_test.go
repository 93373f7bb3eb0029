package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestWidth verifies that no line of text exceeds 80 columns on a terminal of that width, with and
// without color, and that all values are complete if the output is a pipe.
func TestWidth(t *testing.T) {
	const keys = "../../fixtures/keys/trust.json"
	commands := [][]string{{"--help"}, {"keys", "list", keys}, {"explain", "hash_mismatch"}, {"diff", "../../fixtures/valid/full.json", "../../fixtures/valid/task.json"}}
	for _, c := range some(cases(t)) {
		commands = append(commands, []string{"verify", "--keys", keys, fixturePath(c)}, []string{"show", "--full", fixturePath(c)})
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

// TestMessageWidth verifies that a message is folded on a terminal but has a single line in a pipe,
// that the words are the same, and that a folded command can be copied.
func TestMessageWidth(t *testing.T) {
	inFolder(t, 1)
	long := strings.Repeat("a-folder-of-receipts/", 5)
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	draft := readFile(t, "draft.json")
	for name, text := range map[string][]byte{
		"draft.json": draft, "notes.txt": []byte("Dear auditor,\n"), "keys.json": []byte(`{"keys":[]}`),
		"empty": nil, "torn.json": []byte(`{"receipt_id":`),
	} {
		writeFile(t, long+name, text)
	}

	folded, commands := 0, 0
	for _, args := range [][]string{
		{"verify"},
		{"verify", "--keys", long + "none.json", long + "draft.json"},
		{"verify", "--integrity-only", long},
		{"verify", "--integrity-only", long + "draft.json", "--expect-head", "sha256:" + strings.Repeat("0", 64), "--checkpoint", long + "notes.txt"},
		{"show", long + "draft.json"}, {"show", long + "empty"}, {"show", long + "torn.json"},
		{"sign", long + "draft.json", "--key", long + "keys.json"},
		{"seal", long + "keys.json"},
		{"redact", long + "notes.txt"},
		{"archive", "pack", long + "torn.json", "-o", "x.cbor"},
		{"record", long + "draft.json"},
		{"keys", "import", long + "draft.json", "--keys", "keys.json"},
		{"ledger", "list", long + "draft.json"},
		{"merge", long + "keys.json"},
		{"serve", "--listen", "nowhere at all, which is no address of anything that could be listened on by anybody"},
		{"help", "verify", "something"},
	} {
		var piped, shown bytes.Buffer
		e := testEnv(io.Discard, &piped)
		e.Messages = messagesOnce
		code := run(context.Background(), args, e)
		e = testEnv(io.Discard, &shown)
		e.Messages, e.ErrTerminal, e.ErrWidth = messagesOnce, true, 80
		if again := run(context.Background(), args, e); again != code {
			t.Errorf("%q: exit %d in a pipe, %d on a terminal", args, code, again)
		}

		for line := range strings.Lines(piped.String()) {
			if strings.HasPrefix(line, " ") {
				t.Errorf("%q: folded in a pipe:\n%s", args, &piped)
			}
		}
		for line := range strings.Lines(shown.String()) {
			n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
			if alone := len(strings.Fields(strings.TrimSuffix(line, "\\\n"))) == 1; n > 80 && !alone {
				t.Errorf("%q: a line of %d columns: %s", args, n, line)
			}
			if strings.HasSuffix(line, " \\\n") {
				commands++
			}
		}
		if strings.Count(shown.String(), "\n") > strings.Count(piped.String(), "\n") {
			folded++
		}

		// A word that is longer than a line continues on the next line.
		same := strings.NewReplacer(" \\\n", "", "\n", "", " ", "").Replace
		if same(shown.String()) != same(piped.String()) {
			t.Errorf("%q: other words\non a terminal:\n%s\nin a pipe:\n%s", args, &shown, &piped)
		}
	}
	if folded < 10 || commands < 2 {
		t.Errorf("%d messages were folded, %d commands", folded, commands)
	}
}
