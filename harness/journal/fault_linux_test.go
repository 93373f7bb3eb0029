package journal_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/strace"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/harness/journal"
)

// workVariable is the environment variable that contains the path of the journal to which TestWork
// appends.
const workVariable = "JOURNAL_WORK"

// TestWork is the program that TestEachCallFails runs. It appends commits, and prints which commits
// were acknowledged and which were certainly not written.
func TestWork(t *testing.T) {
	path := os.Getenv(workVariable)
	if path == "" {
		t.Skip("it is run by TestEachCallFails")
	}
	j, err := journal.Open(path, func(*journal.Commit) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		task := fmt.Sprint("work_", n)
		err := j.Append(&journal.Commit{At: noon(), Events: []journal.Event{happened("task.submitted", task)}})
		switch {
		case err == nil:
			fmt.Println("acknowledged", task)
		case errors.Is(err, journal.ErrNotWritten):
			fmt.Println("refused", task)
		}
	}
	j.Close()
}

// TestEachCallFails injects a fault into the nth system call on the files of a journal, for n = 1,
// 2, … until there are no more calls. The call either fails or ends the process. Afterward, the
// journal must open with all acknowledged commits and without the refused ones, and must accept
// more commits.
func TestEachCallFails(t *testing.T) {
	if !testsize.Full() {
		t.Skip("it starts many processes")
	}
	strace.Path(t)
	injected := 0
	for _, fault := range []string{
		"openat:error=EIO", "read:error=EIO", "pread64:error=EIO", "write:error=EIO", "write:error=ENOSPC", "write:retval=0", "pwrite64:error=EIO", "pwrite64:error=ENOSPC",
		"fsync:error=EIO", "fsync:signal=KILL", "ftruncate:error=EIO", "renameat:error=EIO", "close:error=EIO", "write:signal=KILL", "pwrite64:signal=KILL", "close:signal=KILL",
	} {
		for n := 1; withFault(t, fault, n); n++ {
			injected++
		}
	}
	if t.Logf("%d faults", injected); injected < 20 {
		t.Errorf("only %d faults", injected)
	}
}

// withFault runs TestWork with a fault at call n on the files of a journal that has one commit, and
// reports whether that call occurred.
func withFault(t *testing.T, fault string, n int) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j, _ := open(t, path)
	add(t, j, happened("task.submitted", "before"))
	j.Close()

	cmd := exec.Command(os.Args[0], "-test.run=^TestWork$")
	cmd.Env = append(os.Environ(), workVariable+"="+path, "GOMAXPROCS=1")
	out, injected, _ := strace.Inject(t, cmd, fault, n, path, path+"-head") // the program may exit with an error
	if !injected {
		return false
	}

	what := fmt.Sprintf("%s %d", fault, n)
	var tasks []string
	again, err := journal.Open(path, func(c *journal.Commit) error { tasks = append(tasks, c.Events[0].Task); return nil })
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return true
	}
	defer again.Close()
	for line := range strings.Lines(string(out)) {
		said, task, _ := strings.Cut(strings.TrimSpace(line), " ")
		if stored := slices.Contains(tasks, task); said == "acknowledged" && !stored || said == "refused" && stored {
			t.Errorf("%s: %s was %s, and the journal has %q", what, task, said, tasks)
		}
	}
	if len(tasks) == 0 || tasks[0] != "before" || len(slices.Compact(slices.Sorted(slices.Values(tasks)))) != len(tasks) {
		t.Errorf("%s: the journal has %q", what, tasks)
	}
	if err := again.Append(&journal.Commit{At: noon(), Events: []journal.Event{happened("task.submitted", "after")}}); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	return true
}
