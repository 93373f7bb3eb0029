package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the expected output in testdata")
	testscript.Main(m, map[string]func(){"receipt": main})
}

// TestScripts runs testdata/*.txtar. -update rewrites what they compare with.
func TestScripts(t *testing.T) {
	fixtures, err := filepath.Abs("../../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	commands := corpusCommands()
	commands["exits"] = exits
	scripts := "*" // with -short those in which goroutines work together
	if testing.Short() {
		scripts = "verify_[cir]*"
	}
	files, err := filepath.Glob("testdata/" + scripts + ".txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no scripts, %v", err)
	}
	testscript.Run(t, testscript.Params{
		Files:         files,
		UpdateScripts: flag.Lookup("update").Value.String() == "true",
		Setup: func(env *testscript.Env) error {
			env.Setenv("FIXTURES", fixtures)
			env.Setenv("HOME", env.WorkDir)
			for _, name := range []string{"RECEIPT_KEYS", "XDG_CONFIG_HOME", "NO_COLOR"} {
				env.Setenv(name, "")
			}
			for _, name := range []string{"valid", "edge", "malicious", "keys"} { // short names in outputs
				if err := os.Symlink(filepath.Join(fixtures, name), filepath.Join(env.WorkDir, name)); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: commands,
	})
}

// exits N COMMAND… runs a command that must end with the exit status N.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command [arg…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%q ended with %d, expected %d", args[1:], got, want)
	}
}
