package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// runs [-codes] LINE… runs receipt with the words of each line, of which there are several
// where it has {A,B}: one for A and one for B. It prints each line, what that printed and the
// exit status, or the exit statuses alone.
func runs(run func(*testscript.TestScript, []string) ran) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		codes := len(args) > 0 && args[0] == "-codes"
		if codes {
			args = args[1:]
		}
		if neg || len(args) == 0 {
			ts.Fatalf("usage: runs [-codes] LINE…")
		}

		var seen []string
		for _, arg := range args {
			for _, line := range alternatives(arg) {
				became := run(ts, strings.Fields(line))
				seen = append(seen, fmt.Sprint(became.Code))
				if !codes {
					fmt.Fprintf(ts.Stdout(), "receipt %s\n%s%sexit %d\n", line, became.Out, became.Err, became.Code)
				}
			}
		}
		if codes {
			fmt.Fprintln(ts.Stdout(), strings.Join(seen, " "))
		}
	}
}

// process runs receipt where a script is, as a process of its own.
func process(ts *testscript.TestScript, args []string) ran {
	code := 0
	err := ts.Exec("receipt", args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	return ran{code, []byte(ts.ReadFile("stdout")), []byte(ts.ReadFile("stderr"))}
}

// alternatives are the lines that a line with {A,B} stands for.
func alternatives(line string) (lines []string) {
	before, rest, found := strings.Cut(line, "{")
	within, after, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return []string{line}
	}
	for _, one := range strings.Split(within, ",") {
		for _, end := range alternatives(after) {
			lines = append(lines, before+one+end)
		}
	}
	return lines
}

// TestAlternatives: {A,B} is A before B, the first one of a line changing last.
func TestAlternatives(t *testing.T) {
	got := alternatives("verify {a,b}.{json,csv,} -")
	want := []string{"verify a.json -", "verify a.csv -", "verify a. -", "verify b.json -", "verify b.csv -", "verify b. -"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}
