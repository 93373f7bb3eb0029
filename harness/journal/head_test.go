package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/harness/feed"
	"github.com/receiptkit/receiptkit/harness/journal"
)

// headless removes the head file of a journal. The journal then looks as if an earlier version had
// written it, or as if the power had failed before the head was written.
func headless(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path + "-head"); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

func contents(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func put(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLostLines verifies that a journal is rejected and not changed if lines are missing at its end
// or if it continues differently. Lines added after the head was written are accepted.
func TestLostLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j, _ := open(t, path)
	heads := [][]byte{nil}
	for range 4 {
		add(t, j, happened("task.submitted", "a"))
		heads = append(heads, contents(t, path+"-head"))
	}
	j.Close()
	whole := contents(t, path)
	lines := bytes.SplitAfter(whole, []byte("\n"))[:4]

	for had := range 5 {
		for left := range 5 {
			for _, half := range []bool{false, true} {
				file := bytes.Join(lines[:left], nil)
				if half && left < 4 {
					file = append(file, lines[left][:40]...)
				}
				put(t, path, file)
				headless(t, path)
				if had > 0 {
					put(t, path+"-head", heads[had])
				}
				j, err := journal.Open(path, func(*journal.Commit) error { return nil })
				if err == nil {
					j.Close()
				}
				damage, ok := errors.AsType[*journal.DamageError](err)
				if left >= had && err != nil || left < had && (!ok || damage.Line != left+1) {
					t.Errorf("%d of %d lines remain: the error is %v", left, had, err)
				}
				if left < had && !bytes.Equal(contents(t, path), file) {
					t.Errorf("with %d of %d lines, the file was changed", left, had)
				}
			}
		}
	}

	// The content has the same length but belongs to another journal.
	put(t, path, summed(bytes.Replace(whole, []byte("garden"), []byte("meadow"), 1)))
	put(t, path+"-head", heads[1])
	if _, err := journal.Open(path, func(*journal.Commit) error { return nil }); err == nil {
		t.Error("another journal is accepted")
	}
}

// TestTornHead verifies that the previous head is used after an incomplete write of the head.
func TestTornHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j, _ := open(t, path)
	for range 3 {
		add(t, j, happened("task.submitted", "a"))
	}
	j.Close()
	whole, text := contents(t, path), contents(t, path+"-head")
	lines := bytes.SplitAfter(whole, []byte("\n"))
	accepted := 0
	for place := range 2 {
		torn := bytes.Clone(text)
		torn[place*512+60] ^= 1
		put(t, path, bytes.Join(lines[:2], nil))
		put(t, path+"-head", torn)
		j, err := journal.Open(path, func(*journal.Commit) error { return nil })
		if err == nil {
			accepted++
			j.Close()
		}
	}
	if accepted != 1 {
		t.Errorf("two lines of three are accepted by %d of two torn heads, expected one", accepted)
	}
}

// TestQuiet verifies that a reader waiting for events in its view reads events outside the view
// only once, instead of again for each new event.
func TestQuiet(t *testing.T) {
	j, _ := open(t, filepath.Join(t.TempDir(), "events.jsonl"))
	own := happened("task.submitted", "own")
	own.Workspace = "quiet"
	add(t, j, own)
	looked := 0
	view := journal.View{Sees: func(workspace string) bool { looked++; return workspace == "quiet" }}
	stream := j.Log(view)
	const others = 300
	for range others {
		add(t, j, happened("task.started", strings.Repeat("b", 3)))
		if events, err := stream.After(t.Context(), "event_1", 64); len(events) != 0 || err != nil {
			t.Fatal(events, err)
		}
	}
	if looked > 4*others {
		t.Errorf("a stream looked %d times at %d events of others", looked, others)
	}
	add(t, j, own)
	if events, err := stream.After(t.Context(), "event_1", 64); len(events) != 1 || err != nil {
		t.Errorf("%v, %v", events, err)
	}

	// A range that is requested repeatedly must not read those events again either.
	var many []journal.Event
	for range 9000 {
		many = append(many, happened("task.started", "b"))
	}
	add(t, j, many...)
	add(t, j, own)
	looked = 0
	events, err := j.Log(view).After(t.Context(), "event_302", 64)
	if len(events) != 1 || err != nil || looked > 3000 {
		t.Errorf("%v, %v: a range looked %d times at 9000 events of others", events, err, looked)
	}
	if _, err := j.Log(view).After(t.Context(), "event_300", 64); !errors.Is(err, feed.ErrGone) {
		t.Error(err)
	}
}
