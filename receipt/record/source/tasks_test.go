package source_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// outlined contains the outline and the content of a log.
type outlined struct {
	*source.Outline
	text []byte
}

func outline(t testing.TB, name string, text []byte) *outlined {
	t.Helper()
	o, err := source.Survey(source.Input{Name: name, Reader: bytes.NewReader(text)}, "")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if o.Bytes != int64(len(text)) || o.Digest != canon.Sum(text) {
		t.Fatalf("%s: the outline has %d bytes, %v", name, o.Bytes, o.Digest)
	}
	return &outlined{o, text}
}

// tasks returns the tasks in the given logs. Unless apart is set, each session is one task.
func tasks(logs []*outlined, apart bool) []*source.Task {
	var list []*source.Outline
	for _, l := range logs {
		list = append(list, l.Outline)
	}
	return source.Tasks(list, apart)
}

func cut(text []byte, spans []source.Span) (b []byte) {
	for _, s := range spans {
		b = append(b, text[s.From:s.Until]...)
	}
	return b
}

// linesOf returns the lines of a task, indexed by the name of the log.
func linesOf(logs []*outlined, task *source.Task) map[string]string {
	all := map[string]string{}
	for _, p := range task.Parts {
		for _, l := range logs {
			if l.Outline == p.Log {
				all[l.Name] += string(cut(l.text, p.Aside)) + "\x00" + string(cut(l.text, p.Spans))
			}
		}
	}
	return all
}

// taskDraft returns the draft for a task.
func taskDraft(t testing.TB, logs []*outlined, task *source.Task) *receipt.Draft {
	t.Helper()
	var inputs []source.Input
	for _, p := range task.Parts {
		for _, l := range logs {
			if l.Outline == p.Log {
				inputs = append(inputs, source.Input{Name: l.Name, Asides: len(p.Aside), Reader: io.MultiReader(bytes.NewReader(cut(l.text, p.Aside)), bytes.NewReader(cut(l.text, p.Spans)))})
			}
		}
	}
	o := source.Options{Options: record.Options{Issuer: receipt.Issuer{ID: "me"}, TaskID: task.ID}, From: string(task.Parts[0].Log.Kind)}
	log, err := source.Read(inputs, o)
	if err != nil {
		t.Fatalf("%s: %v", task.ID, err)
	}
	return log.Draft
}

// A tally contains the sums over several receipts.
type tally struct{ calls, input, output, writes, handoffs int64 }

func (a *tally) add(d *receipt.Draft) {
	number := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	consumed := d.AutonomyBudget.Consumed
	a.calls += int64(len(d.SideEffects.ToolCalls))
	a.input += number(consumed.InputTokens)
	a.output += number(consumed.OutputTokens)
	a.writes += int64(len(d.SideEffects.FSWrites))
	a.handoffs += int64(len(d.SideEffects.A2AHandoffs))
}

// cuttable returns the published logs whose sessions can be divided into tasks, grouped by
// directory.
func cuttable(t testing.TB) (folders [][]*outlined) {
	t.Helper()
	dir := vectors.Dir(t, "sources")
	by := map[string][]*outlined{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if k := source.Sight(text).Kind; k == source.ClaudeTranscript || k == source.CodexRollout {
			folder := strings.Split(path[len(dir)+1:], string(filepath.Separator))[0]
			by[folder] = append(by[folder], outline(t, path[len(dir)+1:], text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, logs := range by {
		folders = append(folders, logs)
	}
	if len(folders) < 7 {
		t.Fatalf("found %d folders", len(folders))
	}
	return folders
}

// TestTasksAreTheSession verifies that each line belongs to one task, and that the receipts of a
// session's tasks together state the same values as the receipt of the entire session.
func TestTasksAreTheSession(t *testing.T) {
	several := 0
	for _, logs := range cuttable(t) {
		sum, whole := map[string]*tally{}, map[string]*tally{}
		count := map[string]int{}
		seen := map[string]bool{}
		for n, into := range []map[string]*tally{whole, sum} {
			covered := map[string][]source.Span{}
			for _, task := range tasks(logs, n == 1) {
				if into[task.Session] == nil {
					into[task.Session] = new(tally)
				}
				into[task.Session].add(taskDraft(t, logs, task))
				if n == 1 {
					if count[task.Session]++; seen[task.ID] {
						t.Errorf("%s: the ID is used twice", task.ID)
					}
					seen[task.ID] = true
				}
				for _, p := range task.Parts {
					covered[p.Log.Name] = append(covered[p.Log.Name], p.Spans...)
				}
			}
			for name, spans := range covered {
				slices.SortFunc(spans, func(a, b source.Span) int { return int(a.From - b.From) })
				for i := 1; i < len(spans); i++ {
					if spans[i].From < spans[i-1].Until {
						t.Errorf("%s: bytes %d to %d are of two tasks", name, spans[i].From, spans[i-1].Until)
					}
				}
			}
		}
		for session, want := range whole {
			if got := sum[session]; got == nil || *got != *want {
				t.Errorf("%s: the tasks record %+v together, the session %+v", session, got, want)
			}
			if count[session] > 1 {
				several++
			}
		}
	}
	if several < 6 {
		t.Errorf("%d sessions have several tasks", several)
	}
}

// TestTasksStay verifies that the receipt of a task does not change when its log grows, if another
// task follows and no call is open.
func TestTasksStay(t *testing.T) {
	followed, cuts, every := 0, testsize.Of(8, 16, 40), testsize.Of(6, 3, 1)
	if testing.Short() {
		cuts = 4
	}
	for _, logs := range cuttable(t) {
		final := map[string]string{}
		for _, task := range tasks(logs, true) {
			final[task.ID] = fmt.Sprint(linesOf(logs, task))
		}
		for n, l := range logs {
			if strings.Contains(l.Name, "subagents") { // these logs grow together with their session
				continue
			}
			lines := bytes.SplitAfter(l.text, []byte("\n"))
			step := max(len(lines)/cuts, 1)
			end, begins := 0, 0 // of tasks, possibly
			for i, line := range lines[:len(lines)-1] {
				end += len(line)
				begin := bytes.Contains(line, []byte(`"type":"user"`)) || bytes.Contains(line, []byte("turn"))
				if begin {
					begins++
				}
				if i%step != 0 && (testing.Short() || !begin || begins%every != 0) {
					continue
				}
				if source.Sight(l.text[:end]).Kind == source.Unknown {
					continue
				}
				grown := slices.Clone(logs)
				grown[n] = outline(t, l.Name, l.text[:end])
				for _, task := range tasks(grown, true) {
					if task.Session != l.Session || !task.Followed || task.Open > 0 {
						continue
					}
					followed++
					if got := fmt.Sprint(linesOf(grown, task)); got != final[task.ID] {
						t.Fatalf("%s of the first %d bytes of %s: other lines than of all", task.ID, end, l.Name)
					}
				}
			}
		}
	}
	if followed == 0 || followed < 50 && !testing.Short() {
		t.Errorf("%d tasks were followed by others", followed)
	}
}

// TestCopiesCountOnce verifies that lines that a session copied from another session are attributed
// to the other session.
func TestCopiesCountOnce(t *testing.T) {
	dir := vectors.Dir(t, "sources")
	for _, family := range []string{"claude-transcript-vscode-copilot-chat/resumed", "codex-rollout-codexbar/fork"} {
		var logs []*outlined
		for _, path := range vectors.Files(t, 2, filepath.Join(dir, family), "*.jsonl") {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			logs = append(logs, outline(t, filepath.Base(path), text))
		}
		for _, apart := range []bool{false, true} {
			var sum tally
			sessions := map[string]bool{}
			for _, order := range [][]*outlined{logs, {logs[1], logs[0]}} {
				sum = tally{}
				for _, task := range tasks(order, apart) {
					sum.add(taskDraft(t, order, task))
					sessions[task.Session] = true
				}
			}
			var want struct {
				Tokens struct {
					Uncached int64 `json:"input_uncached"`
					Read     int64 `json:"cache_read"`
					Creation int64 `json:"cache_creation"`
					Output   int64
				}
				Both struct {
					Input  int64 `json:"input_tokens"`
					Output int64 `json:"output_tokens"`
				} `json:"tokens_of_both"`
			}
			readJSON(t, filepath.Join(dir, family, "family.expected.json"), &want)
			input, output := want.Tokens.Uncached+want.Tokens.Read+want.Tokens.Creation+want.Both.Input, want.Tokens.Output+want.Both.Output
			if sum.input != input || sum.output != output || len(sessions) != 2 {
				t.Errorf("%s: %+v of %d sessions, expected %d and %d", family, sum, len(sessions), input, output)
			}
		}
	}
}
