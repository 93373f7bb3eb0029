package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// A writer is a process that issues receipts until it is refused or killed. It records the
// acknowledged receipts.
type writer struct {
	*exec.Cmd
	mu    sync.Mutex
	told  []string // ID and hash
	times []int64  // times of the acknowledgments, in nanoseconds since 1970
	ended chan struct{}
}

// writers starts processes that issue into a ledger, and waits until each of them has had several
// receipts acknowledged.
func writers(t *testing.T, path string, n int) []*writer {
	t.Helper()
	return writersOf(t, path, n, 100_000)
}

// writersOf starts writers that issue at most the given number of receipts each.
func writersOf(t *testing.T, path string, n, most int) []*writer {
	t.Helper()
	var all []*writer
	for i := range n {
		w := &writer{Cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
		w.Env = append(os.Environ(), fmt.Sprintf("LEDGER_WORKER=%s\tw%d_%d\t%d\t%d\tstays", path, time.Now().UnixNano(), i, most, 1+2*(i%2)))
		out, err := w.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Process.Kill(); <-w.ended })
		go func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				receipt, at := cutTime(lines.Text())
				w.mu.Lock()
				w.told, w.times = append(w.told, receipt), append(w.times, at)
				w.mu.Unlock()
			}
			w.Wait()
			close(w.ended)
		}()
		all = append(all, w)
	}
	for _, w := range all {
		for deadline := time.Now().Add(time.Minute); len(w.acknowledged()) < 3; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("a writer does not begin")
			}
		}
	}
	return all
}

func (w *writer) acknowledged() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.told...)
}

// acknowledgedAfter returns the receipts that were acknowledged after the given time. The times are
// from the clock of the process, because the process's output may be read much later.
func (w *writer) acknowledgedAfter(at time.Time) (receipts []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range w.told {
		if w.times[i] > at.UnixNano() {
			receipts = append(receipts, r)
		}
	}
	return receipts
}

// cutTime splits a line of a worker's output into the receipt and the time. If the line was
// truncated because the worker was killed, the time is 0.
func cutTime(line string) (receipt string, at int64) {
	i := strings.LastIndexByte(line, ' ')
	at, err := strconv.ParseInt(line[i+1:], 10, 64)
	if err != nil {
		return line, 0
	}
	return line[:i], at
}

// end waits for the writers, kills those that do not exit in time, and returns how many were
// killed.
func end(all []*writer, wait time.Duration) (killed int) {
	deadline := time.After(wait)
	for _, w := range all {
		select {
		case <-w.ended:
			continue
		case <-deadline:
			closed := make(chan time.Time)
			close(closed)
			deadline = closed
		}
		w.Process.Kill()
		<-w.ended
		killed++
	}
	return killed
}

// told waits until each writer has had n more receipts acknowledged or has ended, but for at most
// the duration wait.
func told(all []*writer, n int, wait time.Duration) {
	deadline := time.Now().Add(wait)
	for _, w := range all {
		for enough := len(w.acknowledged()) + n; len(w.acknowledged()) < enough && w.running() && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func (w *writer) running() bool {
	select {
	case <-w.ended:
		return false
	default:
		return true
	}
}

// storedIn returns the receipts in a ledger in the form "id hash", regardless of any other damage.
func storedIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	l, err := sqlite.OpenReadOnly(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there := map[string]bool{}
	for e, err := range l.Walk(context.Background(), ledger.Query{}, 0) {
		if err != nil {
			break
		}
		there[fmt.Sprint(e.ID, " ", e.Hash)] = true
	}
	return there
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil { // overwrites the existing file, if there is one
		t.Fatal(err)
	}
}

// backup copies a ledger that is in use, with the documented SQL command.
func backup(t *testing.T, path string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "backup.db")
	execute(t, path, fmt.Sprintf("VACUUM INTO '%s'", to))
	return to
}

// TestFileTaken removes, moves, replaces, or truncates the file of several writing processes. Each
// process must fail soon, no later receipt may be acknowledged, and the original file must contain
// everything that was stored before.
func TestFileTaken(t *testing.T) {
	n := 8
	if !testsize.Full() {
		n = 2
	}
	remove := func(t *testing.T, path string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	move := func(t *testing.T, path string) {
		if err := os.Rename(path, path+".taken"); err != nil {
			t.Fatal(err)
		}
	}
	for name, take := range map[string]func(t *testing.T, path, old string){
		"deleted":  func(t *testing.T, path, _ string) { remove(t, path) },
		"moved":    func(t *testing.T, path, _ string) { move(t, path) },
		"replaced": func(t *testing.T, path, old string) { move(t, path); copyFile(t, old, path) },
		"a backup is moved in": func(t *testing.T, path, old string) {
			if err := os.Rename(old, path); err != nil {
				t.Fatal(err)
			}
		},
		"truncated": func(t *testing.T, path, _ string) {
			if err := os.Truncate(path, 4096); err != nil {
				t.Fatal(err)
			}
		},
		"emptied":           func(t *testing.T, path, _ string) { os.Truncate(path, 0) },
		"the log deleted":   func(t *testing.T, path, _ string) { remove(t, path+"-wal") },
		"the log emptied":   func(t *testing.T, path, _ string) { os.Truncate(path+"-wal", 0) },
		"the index deleted": func(t *testing.T, path, _ string) { remove(t, path+"-shm") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t, 3)
			old := backup(t, path)
			execute(t, path, "PRAGMA wal_checkpoint")
			all := writers(t, path, n)
			take(t, path, old)
			taken := time.Now()
			if killed := end(all, 20*time.Second); killed > 0 {
				t.Errorf("%d of %d writers go on", killed, n)
			}
			after := 0
			for _, w := range all {
				after += len(w.acknowledgedAfter(taken))
			}
			t.Logf("ended after %v; %d more were acknowledged meanwhile", time.Since(taken).Round(time.Millisecond), after)
			if after > 2*n*3 { // allows for receipts that were in progress
				t.Errorf("%d receipts were acknowledged after it was taken", after)
			}
		})
	}
}

// TestRestored damages or replaces a ledger: its write-ahead log is lost or truncated, its end is
// removed, or a backup or another ledger takes its place. A check must report the loss without
// further information, nobody may be able to write to the ledger, and the ledger must be usable
// after the mark has been removed.
func TestRestored(t *testing.T) {
	ctx, v := context.Background(), verifier(t, receipt.Policy{})
	for name, lose := range map[string]func(t *testing.T, path, old string){
		"the log is lost":    func(t *testing.T, path, _ string) { os.Remove(path + "-wal"); os.Remove(path + "-shm") },
		"the log is emptied": func(t *testing.T, path, _ string) { os.Truncate(path+"-wal", 0) },
		"the log is cut":     func(t *testing.T, path, _ string) { os.Truncate(path+"-wal", 32+2*(24+4096)) },
		"a backup": func(t *testing.T, path, old string) {
			os.Remove(path + "-wal")
			os.Remove(path + "-shm")
			copyFile(t, old, path)
		},
		"its end is cut off": func(t *testing.T, path, _ string) {
			execute(t, path, "DELETE FROM receipts WHERE position > 2; UPDATE streams SET count = 2, head = (SELECT hash FROM receipts WHERE stream = streams.id AND position = 2) WHERE count > 2")
		},
		"another ledger": func(t *testing.T, path, _ string) {
			os.Remove(path + "-wal")
			os.Remove(path + "-shm")
			copyFile(t, filled(t, 5), path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t, 3)
			old := backup(t, path)
			all := writersOf(t, path, 2, 30) // few enough that SQLite keeps them in its log: data that is also in the main file would not be lost with the log
			if end(all, 0) != 2 {            // killed by a signal while writing
				t.Fatal("a writer has ended")
			}
			there := storedIn(t, path)
			for _, w := range all {
				for _, r := range w.acknowledged() {
					if !there[r] {
						t.Errorf("%s was acknowledged and is not there", r)
					}
				}
			}
			if c, list := faults(t, path, v); len(list) > 0 || !c.Marked {
				t.Errorf("before: %+v, %q", c, list)
			}

			lose(t, path, old)
			c, list := faults(t, path, v)
			if len(list) == 0 || !c.Marked || !strings.Contains(strings.Join(list, "\n"), "head_mismatch") {
				t.Errorf("the check finds %q", list)
			}
			var back *sqlite.RolledBackError
			if l, err := sqlite.Open(ctx, path); !errors.As(err, &back) {
				t.Errorf("it opens for writing: %v, %v", l, err)
			}

			os.Remove(path + "-head")
			l, err := sqlite.Open(ctx, path)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if _, err := (&ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}).Issue(ctx, draft("receipt_next", "next")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCopy verifies that a ledger has no faults without the files next to it, if it was copied as
// documented or if its log was merged into its file.
func TestCopy(t *testing.T) {
	v := verifier(t, receipt.Policy{})
	path := filled(t, 3)
	all := writers(t, path, 2)
	live := backup(t, path)
	end(all, 0)
	execute(t, path, "PRAGMA wal_checkpoint(TRUNCATE)")
	plain := filepath.Join(t.TempDir(), "copy.db")
	copyFile(t, path, plain)
	for _, path := range []string{live, plain, path} {
		c, list := faults(t, path, v)
		if len(list) > 0 || c.Receipts < 12 {
			t.Errorf("%d receipts, %q", c.Receipts, list)
		}
	}
}

// TestMarkDamaged verifies that the mark is never a reason to refuse a ledger. A damaged mark is
// treated as absent, and a torn write leaves the previous mark intact.
func TestMarkDamaged(t *testing.T) {
	ctx, v, path := context.Background(), verifier(t, receipt.Policy{}), filled(t, 3)
	whole, err := os.ReadFile(path + "-head")
	if err != nil || len(whole) < 1024 {
		t.Fatal(len(whole), err)
	}
	whole = whole[:1024] // both marks; the queue that follows them is not durable
	for name, damaged := range map[string][]byte{"empty": {}, "cut": whole[:700], "zeros": make([]byte, 1024), "text": []byte("hello"), "longer": append(whole[:1024:1024], 'x')} {
		if err := os.WriteFile(path+"-head", damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, list := faults(t, path, v); len(list) > 0 || c.Verified != 6 || c.Marked != (name == "cut" || name == "longer") {
			t.Errorf("%s: %+v, %q", name, c, list)
		}
	}
	for at := 0; at < len(whole); at += 97 {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 4
		if err := os.WriteFile(path+"-head", damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, list := faults(t, path, v); len(list) > 0 || !c.Marked {
			t.Errorf("byte %d: %+v, %q", at, c, list)
		}
	}
	os.Remove(path + "-head")
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	l, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Stat(path + "-head"); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v, want the mode of the ledger", info, err)
	}
	if c, list := faults(t, path, v); len(list) > 0 || !c.Marked {
		t.Errorf("made anew: %+v, %q", c, list)
	}
}

// TestOpenedMeanwhile verifies that a ledger can be opened while other processes write to it
// continuously.
func TestOpenedMeanwhile(t *testing.T) {
	path := filled(t, 1)
	writers(t, path, 2)
	times := testsize.Of(30, 100)
	for range times {
		l, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOverwritten copies an older state over the file of an open ledger. In the end, either the
// file must contain all receipts that were acknowledged after the copy, or the ledger must be
// refused.
func TestOverwritten(t *testing.T) {
	enough := 30
	if testsize.Full() {
		enough = 100_000 // more than can be issued in the available time
	}
	for name, checkpoint := range map[string]string{"all in the log": "PRAGMA user_version", "most in the file": "PRAGMA wal_checkpoint"} {
		t.Run(name, func(t *testing.T) {
			path := filled(t, 3)
			all := writers(t, path, 4)
			old := backup(t, path)
			told(all, enough, 500*time.Millisecond)
			execute(t, path, checkpoint)
			copyFile(t, old, path)
			copied := time.Now()
			told(all, enough, 2*time.Second)
			killed := end(all, 100*time.Millisecond)
			l, err := sqlite.OpenReadOnly(t.Context(), path)
			if err != nil {
				t.Log("refused:", err)
				return
			}
			defer l.Close()
			late, lost := 0, 0
			for _, w := range all {
				for _, r := range w.acknowledgedAfter(copied) {
					id, hash, _ := strings.Cut(r, " ")
					late++
					if s, err := ledger.Get(t.Context(), l, id); err != nil || s.Hash().String() != hash {
						lost++
					}
				}
			}
			_, list := faults(t, path, verifier(t, receipt.Policy{}))
			t.Logf("%d of 4 went on, %d acknowledged after, %d of them lost, %d faults", killed, late, lost, len(list))
			if lost > 8 || lost > 0 && len(list) == 0 { // allows for receipts that were in progress
				t.Errorf("%d of %d receipts that were acknowledged after it are lost; the check finds %.500q", lost, late, list)
			}
		})
	}
}

// TestOverwrittenAndCheckpointed verifies that a writer detects that an older state was copied over
// its ledger. It must do so even if a checkpoint enlarged the file again before the writer checked
// the size.
func TestOverwrittenAndCheckpointed(t *testing.T) {
	for _, checkpointed := range []int{1, 3, 10, 40, 200} {
		for _, inLog := range []int{0, 1, 3, 20} {
			t.Run(fmt.Sprintf("%d in the file, %d in the log", checkpointed, inLog), func(t *testing.T) {
				path := filled(t, 3)
				l, err := sqlite.Open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()

				issuer := &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
				issued := 0
				issue := func(n int) error {
					for range n {
						if _, err := issuer.Issue(t.Context(), draft(fmt.Sprint("receipt_over", issued), "over")); err != nil {
							return err
						}
						issued++
					}
					return nil
				}
				old := backup(t, path)
				if err := issue(checkpointed); err != nil {
					t.Fatal(err)
				}
				execute(t, path, "PRAGMA wal_checkpoint")
				if err := issue(inLog); err != nil {
					t.Fatal(err)
				}

				copyFile(t, old, path)
				checkpoint(t, path)
				before := issued
				if err := issue(20); err == nil || issued != before {
					t.Errorf("%d receipts were acknowledged afterwards, error %v", issued-before, err)
				}
			})
		}
	}
}

// checkpoint moves the content of a ledger's write-ahead log into the ledger's file. SQLite refuses
// to do so if it detects that the file is damaged.
func checkpoint(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA wal_checkpoint"); err != nil {
		t.Log(err)
	}
}
