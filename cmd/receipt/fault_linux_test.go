package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/strace"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// A chore is a command that writes files. It runs in a directory that the commands in prepare have
// set up.
type chore struct {
	prepare [][]string // commands
	line    []string
	files   []string // that it writes
}

var chores = map[string]chore{
	"seal":   {nil, []string{"seal", "draft.json", "-o", "out"}, []string{"out"}},
	"stdout": {nil, []string{"seal", "draft.json"}, nil},
	"redact": {nil, []string{"redact", "draft.json", "--disclosures", "d", "-o", "out"}, []string{"d", "out"}},
	"record": {nil, []string{"record", "events.jsonl", "--issuer", "a", "-o", "out", "--log", "log"}, []string{"log", "out"}},
	"pack":   {[][]string{{"seal", "draft.json", "-o", "r"}}, []string{"archive", "pack", "r", "-o", "out.cborseq"}, []string{"out.cborseq"}},
	"unpack": {[][]string{{"seal", "draft.json", "-o", "r"}, {"archive", "pack", "r", "-o", "a.cborseq"}}, []string{"archive", "unpack", "a.cborseq", "-o", "out.jsonl"}, []string{"out.jsonl"}},
	"merge": {[][]string{{"seal", "draft.json", "-o", "r"}, {"verify", "--integrity-only", "r", "--quiet", "--report", "p.json"}, {"verify", "--integrity-only", "minimal.json", "--quiet", "--report", "q.json"}},
		[]string{"merge", "p.json", "q.json", "--format", "json", "-o", "out"}, []string{"out"}},
	"keys":  {nil, []string{"keys", "generate", "--issuer", "a", "--private", "out", "--keys", "set"}, []string{"out", "set"}},
	"batch": {nil, []string{"batch", "seal", "draft.json", "--manifest", "m", "-o", "out.jsonl"}, []string{"m", "out.jsonl"}},
	"export": {[][]string{{"seal", "draft.json", "-o", "r"}, {"ledger", "init", "l.db"}, {"ledger", "import", "--integrity-only", "l.db", "r"}},
		[]string{"ledger", "export", "l.db", "-o", "out.jsonl"}, []string{"out.jsonl"}},
}

// TestEachCallFails injects a fault into the nth system call of each kind, for n = 1, 2, … until
// there are no more calls. The call either fails or kills the process. A command that reports
// success must have written everything, both to files and to stdout. After a failure, each file
// must be either complete or absent. Afterward, the command must succeed without a fault. With
// CI=all, every call is tested.
func TestEachCallFails(t *testing.T) {
	if !testsize.Full() {
		t.Skip("it starts some hundred processes")
	}
	strace.Path(t)
	step := testsize.Of(51, 51, 1) // for frequent calls, only one in this many calls is tested
	injected := 0
	for i, name := range slices.Sorted(maps.Keys(chores)) {
		if !testsize.InTurn(i) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t, chores[name])
			for _, fault := range []string{
				"openat:error=EIO", "read:error=EIO", "write:error=EIO", "write:error=ENOSPC", "write:retval=0", "fsync:error=EIO", "fdatasync:error=EIO",
				"linkat:error=EIO", "renameat:error=EIO", "unlinkat:error=EIO", "fchmod:error=EPERM", "close:error=EIO", "newfstatat:error=EIO", "mmap:error=ENOMEM",
				"write:signal=KILL", "fsync:signal=KILL", "linkat:signal=KILL", "renameat:signal=KILL", "close:signal=KILL",
			} {
				stride := 1
				if call, _, _ := strings.Cut(fault, ":"); slices.Contains([]string{"openat", "read", "close", "newfstatat", "mmap"}, call) {
					stride = step
				}
				for n := 1 + injected%stride; w.try(fault, n); n += stride {
					injected++
				}
			}
		})
	}
	t.Logf("%d faults", injected)
	if injected == 0 {
		t.Error("no call failed")
	}
}

// A workshop runs a chore repeatedly.
type workshop struct {
	*testing.T
	chore
	dir    string
	said   int            // length of the complete output on stdout
	sizes  map[string]int // sizes of the complete files
	before []string       // names of the prepared files
}

func newWorkshop(t *testing.T, c chore) *workshop {
	w := &workshop{t, c, t.TempDir(), 0, map[string]int{}, nil}
	for _, name := range []string{"docs/draft.json", "docs/events.jsonl", "fixtures/valid/minimal.json"} {
		writeFile(t, filepath.Join(w.dir, filepath.Base(name)), readFile(t, "../../"+name))
	}
	for _, line := range c.prepare {
		if _, err := w.command(line).Output(); err != nil {
			t.Fatal(line, err)
		}
	}
	w.before = filesIn(t, w.dir)
	w.said = w.succeed()
	for _, name := range c.files {
		w.sizes[name] = len(readFile(t, filepath.Join(w.dir, name)))
	}
	return w
}

// command returns a command that runs in the directory.
func (w *workshop) command(line []string) *exec.Cmd {
	cmd := exec.Command("receipt", line...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	return cmd
}

// succeed runs the chore without a fault, and returns the length of its output.
func (w *workshop) succeed() int {
	out, err := w.command(w.line).Output()
	if err != nil {
		var said []byte
		if exit, ok := err.(*exec.ExitError); ok {
			said = exit.Stderr
		}
		w.Errorf("%q: %v: %s", w.line, err, said)
	}
	return len(out)
}

// clean removes all files that were not prepared.
func (w *workshop) clean() {
	for _, name := range filesIn(w.T, w.dir) {
		if !slices.Contains(w.before, name) {
			os.Remove(filepath.Join(w.dir, name))
		}
	}
}

// try runs the chore with a fault at call n of each thread, and reports whether that call occurred.
func (w *workshop) try(fault string, n int) bool {
	w.clean()
	out, injected, err := strace.Inject(w, w.command(w.line), fault, n)
	if !injected {
		return false
	}

	what := fmt.Sprintf("%s %d", fault, n)
	if err == nil && len(out) != w.said {
		w.Errorf("%s: it succeeds with %d of %d bytes", what, len(out), w.said)
	}
	written := 0
	for _, name := range filesIn(w.T, w.dir) {
		size, own := w.sizes[name]
		switch {
		case slices.Contains(w.before, name):
		case own && len(readFile(w.T, filepath.Join(w.dir, name))) == size:
			written++
		case own:
			w.Errorf("%s: %s is incomplete", what, name)
		case strings.HasPrefix(name, "l.db-"): // reading a ledger creates these files
		case !strings.HasSuffix(fault, "KILL") && !strings.HasPrefix(fault, "unlinkat:"):
			w.Errorf("%s: it leaves %s", what, name)
		}
	}
	if err == nil && written != len(w.files) {
		w.Errorf("%s: it succeeds with %d of %d files", what, written, len(w.files))
	}
	w.clean()
	w.succeed()
	return true
}
