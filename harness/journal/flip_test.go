package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/harness/journal"
)

// written creates a journal with several commits, the last of which spans several sectors, and
// returns its path and content.
func written(t *testing.T) (path string, whole []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "events.jsonl")
	j, _ := open(t, path)
	for range 2 {
		add(t, j, happened("task.submitted", "a"))
	}
	long := happened("task.started", "a")
	long.Payload = []byte(`{"text":"` + strings.Repeat("J @*", 400) + `"}`)
	add(t, j, long)
	j.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, whole
}

// damaged checks that opening a file fails with an error that names the given line, and does not
// change the file.
func damaged(t *testing.T, path string, bad []byte, line int) {
	t.Helper()
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, func(*journal.Commit) error { return nil })
	if err == nil {
		j.Close()
	}
	if damage, ok := errors.AsType[*journal.DamageError](err); !ok || damage.Line != line {
		t.Errorf("%v, expected damage of line %d", err, line)
	}
	if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, bad) {
		t.Errorf("the file was changed")
	}
}

// summed returns the lines with recomputed checksums.
func summed(lines []byte) (out []byte) {
	for line := range bytes.Lines(lines) {
		text, end := bytes.CutSuffix(line, []byte("\n"))
		if at := bytes.LastIndex(text, []byte(`,"sum":"`)); at >= 0 {
			text = append(bytes.Clone(text[:at]), '}')
		}
		if body, object := bytes.CutSuffix(text, []byte("}")); object {
			text = fmt.Appendf(nil, `%s,"sum":"%s"}`, body, canon.Sum(body))
		}
		if out = append(out, text...); end {
			out = append(out, '\n')
		}
	}
	return out
}

// TestFlips verifies that a single flipped bit anywhere in the file is reported as damage. This
// also applies to the last line, because that commit was acknowledged.
func TestFlips(t *testing.T) {
	path, whole := written(t)
	step := 97 // bits
	if testsize.Full() {
		step = 5
	}
	var places []int
	for at := 0; at < len(whole)*8; at += step {
		places = append(places, at)
	}
	for at, c := range whole {
		if c == '\n' {
			for bit := range 8 {
				places = append(places, at*8+bit)
			}
		}
	}
	for _, at := range places {
		bad := bytes.Clone(whole)
		bad[at/8] ^= 1 << (at % 8)
		damaged(t, path, bad, bytes.Count(whole[:at/8], []byte("\n"))+1)
		if t.Failed() {
			t.Fatalf("byte %d, bit %d", at/8, at%8)
		}
	}
}

// TestPowerCut verifies that sectors of the last line may be missing if the line was not
// acknowledged. All preceding lines must be kept, and the journal must accept more events.
func TestPowerCut(t *testing.T) {
	path, whole := written(t)
	begin := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for from := (begin + 511) / 512 * 512; from < len(whole); from += 512 {
		for _, to := range []int{min(from+512, len(whole)), len(whole)} {
			for _, end := range []int{to, len(whole)} {
				bad := bytes.Clone(whole[:end])
				clear(bad[from:min(to, end)])
				if err := os.WriteFile(path, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				headless(t, path)
				j, applied := open(t, path)
				if len(*applied) != 2 {
					t.Fatalf("zero from %d to %d of %d: %d commits", from, to, end, len(*applied))
				}
				add(t, j, happened("task.completed", "a"))
				j.Close()
				j, applied = open(t, path)
				if len(*applied) != 3 {
					t.Fatalf("zero from %d to %d of %d: %d commits after one more", from, to, end, len(*applied))
				}
				j.Close()
			}
		}
	}
}

// TestNoJournal verifies that a file that is not a journal is not changed. The same applies to a
// file with two incomplete lines, which cannot result from a crash.
func TestNoJournal(t *testing.T) {
	path, whole := written(t)
	line, _, _ := bytes.Cut(whole, []byte("\n"))
	half := line[:len(line)/2]
	for _, bad := range []string{"a letter", "a letter\n", `{"name":"notes"}`, "\n", string(line) + "x", string(half) + "\n" + string(half), string(half) + "\n" + string(half) + "\n"} {
		damaged(t, path, []byte(bad), 1)
	}
}
