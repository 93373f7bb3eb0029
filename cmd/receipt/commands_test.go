package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWords is the maximum number of words in the help of all commands. textWords is the maximum if
// lines that describe flags are not counted.
const helpWords, textWords = 7250, 5100

// TestCommandList verifies that docs/cli.txt lists every command with its flags and defaults, so
// that reviewers see each change. With -update, the test writes the file.
func TestCommandList(t *testing.T) {
	const name = "../../docs/cli.txt"
	root := newRoot(testEnv(io.Discard, io.Discard))
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	var b bytes.Buffer
	b.WriteString("The commands, flags, types, and defaults. To write this file again, run go test ./cmd/receipt -run TestCommandList -update.\n")
	listCommand(&b, root)

	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if committed, err := os.ReadFile(name); err != nil || !bytes.Equal(committed, b.Bytes()) {
		t.Errorf("%s does not list the commands (%v); write it with -update, and read the diff", name, err)
	}
}

// listCommand writes a command and all of its subcommands, including hidden ones.
func listCommand(w io.Writer, cmd *cobra.Command) {
	_, args, _ := strings.Cut(cmd.Use, " ")
	fmt.Fprintf(w, "\n%s", strings.TrimSpace(cmd.CommandPath()+" "+args))
	if cmd.Hidden {
		fmt.Fprint(w, " (hidden)")
	}
	fmt.Fprintln(w)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if cmd.HasParent() && cmd.Root().PersistentFlags().Lookup(f.Name) == f || f.Name == "help" {
			return
		}
		fmt.Fprint(w, "  --", f.Name)
		if f.Shorthand != "" {
			fmt.Fprint(w, " -", f.Shorthand)
		}
		fmt.Fprintf(w, " %s", f.Value.Type())
		if f.DefValue != "" {
			fmt.Fprintf(w, " = %s", strings.Replace(f.DefValue, os.TempDir(), "(temporary directory)", 1))
		}
		if f.Hidden {
			fmt.Fprint(w, " (hidden)")
		}
		fmt.Fprintln(w)
	})
	for _, c := range cmd.Commands() {
		listCommand(w, c)
	}
}

// TestHelpLength verifies that the help of all visible commands stays short enough to read.
func TestHelpLength(t *testing.T) {
	words, text := 0, 0
	err := eachCommand(newRoot(testEnv(io.Discard, io.Discard)), func(cmd *cobra.Command) error {
		var b bytes.Buffer
		cmd.SetOut(&b)
		if err := cmd.Help(); err != nil {
			return err
		}
		for line := range strings.Lines(b.String()) {
			n := len(strings.Fields(line))
			if words += n; !strings.HasPrefix(strings.TrimSpace(line), "-") {
				text += n
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d words, %d without flags", words, text)
	if words > helpWords || text > textWords {
		t.Errorf("help has %d words, %d without flags, expected at most %d and %d", words, text, helpWords, textWords)
	}
}
