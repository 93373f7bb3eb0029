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

// runs implements the script command "runs [-codes] LINE…", which runs receipt once per line, with
// the words of the line as its arguments. A line that contains {A,B} represents two lines, one with
// A and one with B. For each line, runs prints the line, its output, and its exit code. With
// -codes, it prints only the exit codes.
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

// process runs receipt in a separate process, in the directory of a script.
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

// alternatives returns the lines that a line with {A,B} represents.
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

// TestAlternatives verifies that A precedes B in the expansion of {A,B}, and that the first
// alternatives of a line vary most slowly.
func TestAlternatives(t *testing.T) {
	got := alternatives("verify {a,b}.{json,csv,} -")
	want := []string{"verify a.json -", "verify a.csv -", "verify a. -", "verify b.json -", "verify b.csv -", "verify b. -"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}
