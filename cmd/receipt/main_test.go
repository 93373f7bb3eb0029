package main

import (
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/receiptkit/receiptkit/fixtures/keyservice"
	"github.com/receiptkit/receiptkit/fixtures/scratch"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

// roomVariable is the environment variable that sets the maximum size of files, in bytes. The limit
// is set in a separate process because it applies to all files that a process writes, and go test
// itself writes files.
const roomVariable = "RECEIPT_TEST_ROOM"

// programVariable is the environment variable for the directory of another build of receipt, such
// as a release, for the scripts to run.
const programVariable = "RECEIPT_TEST_PROGRAM"

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the expected output in testdata")
	if os.Getenv("GOGC") == "" { // otherwise, collecting small heaps takes a third of the time
		debug.SetGCPercent(400)
	}
	if os.Getenv(roomVariable) != "" { // this process was started by a test and ends without cleaning up
		os.Exit(m.Run())
	}
	testscript.Main(inMemory{m}, map[string]func(){
		"receipt": main, "receipt-runner": serveOrders, "sigstore-kms-test": keyservice.Plugin,
	})
}

// inMemory runs the tests with all files in memory. The commands are links to the test binary in
// the same directory.
type inMemory struct{ *testing.M }

func (m inMemory) Run() int {
	os.Setenv("RECEIPT_CONFIG", "") // ignore the defaults of the user who runs the tests
	scratch.InMemory()
	return m.M.Run()
}

// TestScripts runs testdata/*.txtar. The flag -update rewrites the expected output.
func TestScripts(t *testing.T) {
	scripts := "*" // with -short, only scripts that test concurrency run
	if testing.Short() {
		scripts = "verify_[cir]*"
	}
	files, err := filepath.Glob("testdata/" + scripts + ".txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no scripts, %v", err)
	}
	runScripts(t, files, nil)
}

// TestUpstreamReplay verifies that a published replay request and its published receipt are
// accepted.
func TestUpstreamReplay(t *testing.T) {
	published := absolute(t, vectors.Dir(t, "harn"))
	runScripts(t, []string{"testdata/upstream/replay.txtar"}, map[string]string{"harn": published})
}

// TestUpstreamHook verifies that the hook of Claude Code records published transcripts.
func TestUpstreamHook(t *testing.T) {
	published := absolute(t, vectors.Dir(t, "sources-2/claude-transcript-entireio"))
	runScripts(t, []string{"testdata/upstream/hook.txtar"}, map[string]string{"claude": published})
}

// runScripts runs scripts in directories that contain links to the fixtures and to the given
// targets.
func runScripts(t *testing.T, files []string, links map[string]string) {
	t.Helper()
	fixtures := absolute(t, "../../fixtures")
	all := map[string]string{}
	for _, name := range []string{"valid", "edge", "malicious", "keys"} { // keeps the names in the output short
		all[name] = filepath.Join(fixtures, name)
	}
	maps.Copy(all, links)
	program := os.Getenv(programVariable)
	commands, shared := corpusCommands(), newRunners(t)
	for i, file := range files {
		if program != "" || testsize.Full() && testsize.InTurn(i) {
			shared.without = append(shared.without, strings.TrimSuffix(filepath.Base(file), ".txtar"))
		}
	}
	commands["exits"], commands["runs"] = shared.exits, runs(shared.run)
	commands["agent"] = startAgent
	testscript.Run(t, testscript.Params{
		Files:         files,
		UpdateScripts: flag.Lookup("update").Value.String() == "true",
		Setup: func(env *testscript.Env) error {
			env.Setenv("FIXTURES", fixtures)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("MANY", many())
			if program != "" {
				env.Setenv("PATH", program+string(filepath.ListSeparator)+env.Getenv("PATH"))
			}
			for _, name := range []string{"RECEIPT_KEYS", "XDG_CONFIG_HOME", "NO_COLOR"} {
				env.Setenv(name, "")
			}
			for name, target := range all {
				if err := os.Symlink(target, filepath.Join(env.WorkDir, name)); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: commands,
	})
}

// many returns a file pattern for scripts that read many files. At full size, it matches all files.
// Otherwise, it matches a few.
func many() string {
	if testsize.Full() {
		return "*"
	}
	return "[n-p]*"
}

// exits implements the script command "exits N COMMAND ARG…", which runs a command and fails unless
// the command exits with code N.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	expectExit(ts, neg, args, func() int {
		err := ts.Exec(args[1], args[2:]...)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		}
		ts.Check(err)
		return 0
	})
}

// expectExit checks that a run ends with the exit code at the start of args.
func expectExit(ts *testscript.TestScript, neg bool, args []string, run func() int) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command [arg…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := run(); got != want {
		ts.Fatalf("%q ended with %d, expected %d", args[1:], got, want)
	}
}
