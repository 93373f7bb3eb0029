package source_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// drafted returns the draft for logs that form one task, or nil if the logs contain no information.
func drafted(t *testing.T, texts ...[]byte) *receipt.Draft {
	t.Helper()
	var inputs []source.Input
	for n, text := range texts {
		inputs = append(inputs, source.Input{Name: fmt.Sprint("log-", n), Reader: bytes.NewReader(text)})
	}
	l, err := source.Read(inputs, options())
	switch {
	case errors.Is(err, source.ErrUnknown), errors.Is(err, source.ErrEmpty):
		return nil
	case err != nil:
		t.Fatal(err)
	}
	return l.Draft
}

// deeds returns the actions and the usage in a draft and the outcome of the task. It omits names
// that are derived from the logs of an unnamed task.
func deeds(t *testing.T, d *receipt.Draft) string {
	t.Helper()
	text, err := json.MarshalIndent([]any{d.SideEffects, d.Cost, d.AutonomyBudget, d.Approvals, d.Lifecycle.FinalState, d.Identifiers.SessionID, d.ReplayInput.Determinism}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestToldTwice verifies, for all sources, that a log is counted once, even if it is passed twice
// or occurs twice in one file.
func TestToldTwice(t *testing.T) {
	var paths []string
	for _, root := range []string{"testdata", vectors.Dir(t, "sources")} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if name := filepath.Base(path); (strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".json")) && !strings.Contains(name, "expected") {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	kinds := map[source.Kind]int{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() && len(text) > 1<<20 {
			continue
		}
		kind := source.Sight(text).Kind
		once := drafted(t, text)
		if once == nil {
			continue
		}
		kinds[kind]++
		want := deeds(t, once)

		if got := deeds(t, drafted(t, text, text)); got != want {
			t.Errorf("%s (%s), given twice: %s", path, kind, firstDifference(want, got))
		}
		if lines := bytes.TrimRight(text, "\n"); strings.HasSuffix(path, ".jsonl") {
			if got := deeds(t, drafted(t, append(append(bytes.Clone(lines), '\n'), text...))); got != want {
				t.Errorf("%s (%s), appended to itself: %s", path, kind, firstDifference(want, got))
			}
		}
	}
	for _, kind := range []source.Kind{codexExec, source.CodexRollout, claudeStream, source.ClaudeTranscript, otlpJSON} {
		if kinds[kind] < 2 {
			t.Errorf("%d logs of %s", kinds[kind], kind)
		}
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for n := range min(len(a), len(b)) {
		if a[n] != b[n] {
			return fmt.Sprintf("line %d: %s, once %s", n, b[n], a[n])
		}
	}
	return fmt.Sprintf("%d lines, once %d", len(b), len(a))
}

// These are lines from codex exec.
const (
	thread    = `{"type":"thread.started","thread_id":"t"}`
	turn      = `{"type":"turn.started"}`
	looking   = `{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"a\n","exit_code":0,"status":"completed"}}`
	building  = `{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"make","aggregated_output":"ok\n","exit_code":0,"status":"completed"}}`
	tookThree = `{"type":"turn.completed","usage":{"input_tokens":3,"output_tokens":1}}`
	tookNine  = `{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":1}}`
	tookNone  = `{"type":"turn.completed"}`
)

// TestRunsTold verifies that a copy of a codex exec run is counted once, even if the copy was made
// before the run ended. A run that merely begins in the same way as another run must be counted
// separately. If it is unknown which of the two cases applies, the amounts are lower bounds.
func TestRunsTold(t *testing.T) {
	whole := []string{thread, turn, looking, building, tookThree}
	for name, c := range map[string]struct {
		logs  [][]string
		calls int
		input int64
		floor bool
		state string // "" if the draft does not state the value
	}{
		"one":                       {[][]string{whole}, 2, 3, false, "SUCCEEDED"},
		"a copy":                    {[][]string{whole, whole}, 2, 3, false, "SUCCEEDED"},
		"two copies":                {[][]string{whole, whole, whole}, 2, 3, false, "SUCCEEDED"},
		"an earlier copy, first":    {[][]string{whole[:3], whole}, 2, 3, true, "SUCCEEDED"},
		"an earlier copy, last":     {[][]string{whole, whole[:3]}, 2, 3, true, ""},
		"earlier and earlier":       {[][]string{whole[:4], whole[:3], whole}, 2, 3, true, "SUCCEEDED"},
		"resumed, the same command": {[][]string{whole, {thread, turn, looking, tookNine}}, 3, 9, false, "SUCCEEDED"},
		"resumed, in one file":      {[][]string{append(whole[:5:5], thread, turn, looking, building, tookNine)}, 4, 9, false, "SUCCEEDED"},
		"resumed, a copy of both":   {[][]string{append(whole[:5:5], thread, turn, looking, tookNine), {thread, turn, looking, tookNine}, whole}, 3, 9, false, "SUCCEEDED"},
		"a turn more than before":   {[][]string{whole, append(whole[:5:5], turn, looking, tookNine)}, 3, 9, false, "SUCCEEDED"},
		"without usage":             {[][]string{{thread, turn, looking, tookNone}, {thread, turn, looking, tookNone}}, 1, 0, true, "SUCCEEDED"},
		"cut at its beginning":      {[][]string{whole[2:], whole[2:]}, 2, 3, true, "SUCCEEDED"},
		"of another thread":         {[][]string{whole, append([]string{strings.Replace(thread, `"t"`, `"u"`, 1)}, whole[1:]...)}, 4, 6, false, "SUCCEEDED"},
		"in two parts":              {[][]string{whole[:3], whole[3:]}, 2, 3, false, "SUCCEEDED"},
	} {
		r := toldOf(t, c.logs...)
		state := r.Lifecycle.FinalState
		if r.untold["/lifecycle/final_state"] {
			state = ""
		}
		var input int64
		if n := r.AutonomyBudget.Consumed.InputTokens; n != nil {
			input = *n
		}
		if n := len(r.SideEffects.ToolCalls); n != c.calls || input != c.input || r.floor["/side_effects/tool_calls"] != c.floor || state != c.state {
			t.Errorf("%s: %d calls, %d tokens, at least so: %t, %q; want %+v", name, n, input, r.floor["/side_effects/tool_calls"], state, c)
		}
	}
}
