package daily

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

const (
	asked    = `{"type":"user","sessionId":"s","timestamp":"2026-04-25T10:00:00Z","uuid":"u1","message":{"role":"user","content":"go"}}` + "\n"
	answered = `{"type":"assistant","sessionId":"s","timestamp":"2026-04-25T10:00:01Z","uuid":"u2","message":{"id":"m","role":"assistant","model":"m","content":[]}}` + "\n"
)

// TestLogsThatChange verifies that only bytes that were part of the survey are recorded. If a log
// has grown, only the part that was surveyed is read. If a log has been replaced, it is not read.
func TestLogsThatChange(t *testing.T) {
	grown := asked + answered + asked
	for name, test := range map[string]struct {
		change func(path string) error
		want   string // the bytes that are read, or "" if the log has changed
	}{
		"same":     {func(string) error { return nil }, asked + answered},
		"grown":    {func(path string) error { return os.WriteFile(path, []byte(grown), 0o600) }, asked + answered},
		"replaced": {func(path string) error { return replace(path, asked+answered) }, asked + answered},
		"another":  {func(path string) error { return replace(path, strings.Replace(grown, "go", "no", 1)) }, ""},
		"rewritten": {func(path string) error {
			return os.WriteFile(path, []byte(strings.Replace(grown, "go", "no", 1)), 0o600)
		}, ""},
		"cut":     {func(path string) error { return os.Truncate(path, int64(len(asked))) }, ""},
		"emptied": {func(path string) error { return os.Truncate(path, 0) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			if err := os.WriteFile(path, []byte(asked+answered), 0o600); err != nil {
				t.Fatal(err)
			}
			o, l := surveyed(t, path)
			if err := test.change(path); err != nil {
				t.Fatal(err)
			}
			got, err := taskLines(o, l)
			if test.want == "" && !errors.Is(err, errChanged) || test.want != "" && (err != nil || got != test.want) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestLogThatChangesAgain verifies that a log that has grown is checked again when its next task is
// recorded.
func TestLogThatChangesAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(asked+answered), 0o600); err != nil {
		t.Fatal(err)
	}
	o, l := surveyed(t, path)

	grown := asked + answered + asked
	if err := os.WriteFile(path, []byte(grown), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := taskLines(o, l); got != asked+answered || err != nil {
		t.Fatalf("grown: %q, %v", got, err)
	}

	if err := os.WriteFile(path, []byte(strings.Replace(grown, "go", "stop", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := taskLines(o, l); !errors.Is(err, errChanged) {
		t.Errorf("rewritten: %q, %v", got, err)
	}
}

// TestPackedLines verifies that a task has the same lines in a compressed log as in the
// uncompressed log.
func TestPackedLines(t *testing.T) {
	text := `{"timestamp":"2026-04-25T11:00:00Z","type":"session_meta","payload":{"id":"th"}}` + "\n"
	for _, turn := range []string{"a", "b", "c"} {
		text += `{"timestamp":"2026-04-25T11:00:0` + turn + `Z","type":"event_msg","payload":{"type":"task_started","turn_id":"` + turn + `"}}` + "\n" +
			`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1` + strings.Repeat("0", len(turn)) + `,"output_tokens":4}}}}` + "\n"
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var read [2][]string
	for n, data := range [][]byte{[]byte(text), packed.Bytes()} {
		path := filepath.Join(dir, []string{"r.jsonl", "r.jsonl.gz"}[n])
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		o, l := surveyed(t, path)
		for _, task := range source.Tasks([]*source.Outline{l.outline}, true) {
			in, err := o.lines(l, &task.Parts[0])
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(in.Reader)
			in.done()
			if err != nil {
				t.Fatal(err)
			}
			read[n] = append(read[n], string(got))
		}
	}
	if len(read[0]) != 3 || strings.Join(read[0], "\x00") != strings.Join(read[1], "\x00") {
		t.Errorf("%q, and packed %q", read[0], read[1])
	}
	for n, lines := range read[0] {
		if !strings.HasPrefix(lines, text[:strings.IndexByte(text, '\n')+1]) || strings.Count(lines, "\n") != []int{3, 4, 4}[n] {
			t.Errorf("task %d has the lines %s", n, lines)
		}
	}
}

// TestInterruptedRead verifies that nothing is reported about a file or task if reading it was
// interrupted.
func TestInterruptedRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(asked+answered), 0o600); err != nil {
		t.Fatal(err)
	}
	o, l := surveyed(t, path)
	w := &work{Task: source.Tasks([]*source.Outline{l.outline}, true)[0], files: []*logFile{l}}
	text, err := os.ReadFile("../../../../fixtures/valid/full.json")
	if err != nil {
		t.Fatal(err)
	}
	before, err := receipt.ParseSealed(text)
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o.ctx = ctx
	v := &surveyor{opener: o, options: new(Options), result: newResult()}
	v.group([]*sighted{{place: l.place}, {place: l.place, events: true}})
	m := &maker{opener: o, options: v.options, sink: keeper{kept: before}, result: v.result}
	if err := m.record(w); err == nil || !strings.Contains(err.Error(), "interrupted") || len(v.result.files)+len(v.result.entries) > 0 {
		t.Errorf("%v, and %d files and %d tasks are reported", err, len(v.result.files), len(v.result.entries))
	}
}

// A keeper is a sink that already has a receipt for every task.
type keeper struct {
	sink
	kept *receipt.Sealed
}

func (k keeper) before(*entry) (*receipt.Sealed, status, error) { return k.kept, "", nil }

func replace(path, text string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func surveyed(t *testing.T, path string) (*opener, *logFile) {
	t.Helper()
	o := &opener{ctx: context.Background()}
	v := &surveyor{opener: o, options: new(Options), result: newResult()}
	l, err := v.outline(&sighted{place: &place{path: path}})
	if err != nil {
		t.Fatal(err)
	}
	return o, l
}

// taskLines reads the lines of the only task in a log, in the same way as a recording.
func taskLines(o *opener, l *logFile) (string, error) {
	tasks := source.Tasks([]*source.Outline{l.outline}, true)
	in, err := o.lines(l, &tasks[0].Parts[0])
	if err != nil {
		return "", err
	}
	defer in.done()
	text, err := io.ReadAll(in.Reader)
	if err == nil {
		err = o.still(l, in)
	}
	return string(text), err
}
