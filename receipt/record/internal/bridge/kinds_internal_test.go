package bridge

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A listener records the events that result from frames.
type listener struct {
	text      []byte
	ended     bool
	artifacts map[string]bool
}

func (l *listener) AddDocument(event *canon.Document) error {
	l.text = append(event.AppendCanonical(l.text), '\n')
	switch root := event.Root(); root.Member("event").String() {
	case "task.completed", "task.failed", "task.canceled":
		l.ended = true
	case "artifact.created":
		l.artifacts[root.Member("payload").Member("artifact_id").String()] = true
	}
	return nil
}

func (l *listener) Ended() bool             { return l.ended }
func (l *listener) Artifact(id string) bool { return l.artifacts[id] }

// translated returns the events, counts, and errors that result from translating the frames in
// testdata with the given tables.
func translated(t *testing.T, table []frameKind, outcomes []outcome) (all string, errs []error) {
	t.Helper()
	for name, task := range map[string]string{"run": "task_01K0RUN", "canceled": "task_01K0STOP", "current": "task_01K0NOW"} {
		data, err := os.ReadFile("../../testdata/" + name + ".frames.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		l := &listener{artifacts: map[string]bool{}}
		f := newTranslator(Options{TaskID: task, SessionID: "session_01K0", WorkspaceRef: "workspace_garden"}, l, event.NewBudget(), table, outcomes)
		for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
			doc, err := canon.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Line(i+1, doc.Root()); err != nil {
				errs = append(errs, err)
				break
			}
		}
		all += fmt.Sprintf("%s\n%s\n%+v\n", name, l.text, f.Counts())
	}
	lines := strings.Split(all, "\n")
	slices.Sort(lines) // the order of the logs varies
	return fmt.Sprint(strings.Join(lines, "\n"), errs), errs
}

// TestEachFrame verifies that removing any row from the table changes a result.
func TestEachFrame(t *testing.T) {
	whole, errs := translated(t, frameKinds(), outcomes())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for i, k := range frameKinds() {
		if got, _ := translated(t, slices.Delete(frameKinds(), i, i+1), outcomes()); got == whole {
			t.Errorf("without the row of %s nothing changes", k.Frame)
		}
		if k.translate == nil {
			continue
		}
		table := frameKinds()
		table[i].translate = nil
		if got, _ := translated(t, table, outcomes()); got == whole && k.Frame != "session/update hitl_request" { // it repeats harn.hitl.requested
			t.Errorf("when %s is not translated nothing changes", k.Frame)
		}
	}
}

// An outcomeCase is an answer to a permission request, with the expected decision.
type outcomeCase struct{ options, response, want string }

func outcomeCases() []outcomeCase {
	const (
		offered = `[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"no","name":"No","kind":"reject_once"},{"optionId":"never","kind":"reject_always"}]`
		twice   = `[{"optionId":"yes","kind":"allow_once"},{"optionId":"yes","kind":"reject_once"}]`
	)
	return []outcomeCase{
		// These are the legacy dialects A and B.
		{``, `{"result":{"granted":true}}`, event.Approved},
		{``, `{"result":{"granted":true,"args":{"a":1}}}`, event.Approved},
		{``, `{"result":{"granted":false,"reason":"no"}}`, event.Denied},
		{``, `{"result":{"granted":"true"}}`, event.Denied},
		{``, `{"result":{"granted":1}}`, event.Denied},
		{``, `{"result":{"granted":null}}`, event.Denied},
		{offered, `{"result":{"granted":true}}`, event.Denied},
		{``, `{"result":{"granted":true,"outcome":"allow"}}`, event.Denied},
		{``, `{"result":{"granted":true,"outcome":{"outcome":"cancelled"}}}`, event.Denied},
		// A and B
		{``, `{"result":{"outcome":{"outcome":"selected"}}}`, event.Approved},
		{`null`, `{"result":{"outcome":{"outcome":"selected"}}}`, event.Approved},
		{`[]`, `{"result":{"outcome":{"outcome":"selected"}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"outcome":"selected"}}}`, event.Denied},
		{`{}`, `{"result":{"outcome":{"outcome":"selected"}}}`, event.Denied},
		{``, `{"result":{"outcome":"allow"}}`, event.Approved},
		{``, `{"result":{"outcome":"selected"}}`, event.Approved},
		{offered, `{"result":{"outcome":"selected"}}`, event.Denied},
		{offered, `{"result":{"outcome":"allow"}}`, event.Denied},
		{``, `{"result":{"outcome":"ALLOW"}}`, event.Denied},
		{``, `{"result":{"outcome":"cancelled"}}`, event.Canceled},
		{``, `{"result":{"outcome":"reject"}}`, event.Denied},
		{``, `{"result":{"outcome":""}}`, event.Denied},
		// C
		{offered, `{"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`, event.Approved},
		{offered, `{"result":{"outcome":{"outcome":"selected","optionId":"always"}}}`, event.Approved},
		{offered, `{"result":{"outcome":{"outcome":"selected","optionId":"no"}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"outcome":"selected","optionId":"never"}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"outcome":"selected","optionId":"YES"}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"outcome":"selected","optionId":null}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"outcome":"selected","optionId":7}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"outcome":"selected","optionId":["yes"]}}}`, event.Denied},
		{twice, `{"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`, event.Denied},
		{``, `{"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`, event.Denied},
		{`[{"optionId":"x","kind":"disallow"}]`, `{"result":{"outcome":{"outcome":"selected","optionId":"x"}}}`, event.Denied},
		{`[{"optionId":"x"}]`, `{"result":{"outcome":{"outcome":"selected","optionId":"x"}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"outcome":"cancelled"}}}`, event.Canceled},
		{offered, `{"result":{"outcome":{"outcome":"cancelled","optionId":"yes"}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"outcome":"granted"}}}`, event.Denied},
		{offered, `{"result":{"outcome":{"optionId":"yes"}}}`, event.Denied},
		// neither
		{``, `{"error":{"code":-32601,"message":"method not found"}}`, event.Denied},
		{``, `{"error":{"code":1},"result":{"outcome":"allow"}}`, event.Denied},
		{``, `{"error":null,"result":{"granted":true}}`, event.Denied},
		{``, `{"result":{}}`, event.Denied},
		{``, `{"result":null}`, event.Denied},
		{``, `{"result":true}`, event.Denied},
		{``, `{"result":"allow"}`, event.Denied},
		{``, `{"result":["allow"]}`, event.Denied},
	}
}

func decideCase(t *testing.T, c outcomeCase, table []outcome) string {
	t.Helper()
	request := `{"options":null}`
	if c.options != "" {
		request = `{"options":` + c.options + `}`
	}
	q, err := canon.Parse([]byte(request))
	if err != nil {
		t.Fatal(err)
	}
	a, err := canon.Parse([]byte(c.response))
	if err != nil {
		t.Fatal(err)
	}
	options := q.Root().Member("options")
	if c.options == "" {
		options = canon.Node{}
	}
	return newAnswer(a.Root(), options).decide(table)
}

// TestOutcomes verifies the decision for each answer, and that removing any row from the table
// changes a result.
func TestOutcomes(t *testing.T) {
	used := make([]bool, len(outcomes()))
	for _, c := range outcomeCases() {
		if got := decideCase(t, c, outcomes()); got != c.want {
			t.Errorf("options %s, %s: %s, want %s", c.options, c.response, got, c.want)
		}
		for i := range used {
			used[i] = used[i] || decideCase(t, c, slices.Delete(outcomes(), i, i+1)) != c.want
		}
	}
	for i, o := range outcomes() {
		if !used[i] {
			t.Errorf("without the row of %s no answer means something else", o.Answer)
		}
	}
}

// TestStopReasons verifies that the table contains each reason exactly once.
func TestStopReasons(t *testing.T) {
	for i, s := range stopReasons() {
		if rest := slices.Delete(stopReasons(), i, i+1); slices.Contains(rest, s) {
			t.Errorf("%s is there twice", s.Word)
		}
	}
}

// TestWorkerEventStatus verifies that an event about a worker leads to the status that the event
// implies.
func TestWorkerEventStatus(t *testing.T) {
	for _, w := range workerEvents() {
		l := &listener{}
		f := New(Options{TaskID: "t", SessionID: "s"}, l, event.NewBudget())
		doc, err := canon.Parse(fmt.Appendf(nil, `{"at":"2026-01-01T00:00:00Z","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"worker_update","workerId":"w","event":%q}}}}`, w.Word))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Line(1, doc.Root()); err != nil || !strings.Contains(string(l.text), `"status":"`+w.Means+`"`) {
			t.Errorf("%s: %v %s", w.Word, err, l.text)
		}
	}
}
