package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

type members = map[string]any

// A source is a task log under construction.
type source struct {
	task    string
	lines   [][]byte
	foreign []int // indexes of events that belong to another task
}

// add adds an event whose time is the given second on 2026-01-01.
func (s *source) add(id, kind string, second int, payload members) {
	s.addAt(id, kind, fmt.Sprintf("2026-01-01T00:00:%02dZ", second), payload)
}

func (s *source) addAt(id, kind, at string, payload members) {
	line, err := json.Marshal(members{
		"id": id, "object": "event", "event": kind, "resource": members{"object": "task", "id": s.task}, "task_id": s.task,
		"session_id": "session_1", "workspace_id": "workspace_1", "created_at": at, "sequence": len(s.lines) - len(s.foreign) + 1, "payload": payload,
	})
	if err != nil {
		panic(err)
	}
	s.lines = append(s.lines, line)
}

func (s *source) bytes() []byte { return append(bytes.Join(s.lines, []byte("\n")), '\n') }

// garden returns the log of a task that uses every kind of recorded answer.
func garden() *source {
	s := &source{task: "task_1"}
	s.add("e1", "task.submitted", 1, members{"autonomy_tier": "act_auto", "policy_ref": "policy_1", "model_route": members{
		"chosen_model": members{"provider": "p", "model": "m"}, "route_policy_reason": "the only one"}})
	s.add("e2", "task.started", 2, members{})
	s.add("e3", "span.completed", 3, members{"kind": "llm", "span_id": "s1", "provider": "p", "model": "m", "response": members{"text": "look"}, "input_tokens": 5, "output_tokens": 6, "cost": members{"amount": 0.5}})
	s.add("e4", "tool.requested", 4, members{"tool_call_id": "c1", "name": "soil.read", "input": members{"bed": 1}})
	s.add("e5", "agent.tool_result", 5, members{"tool_call_id": "c1", "output": "dry"})
	s.add("e6", "tool.completed", 5, members{"tool_call_id": "c1", "output": "dry", "status": "succeeded"})
	s.add("e7", "agent.mcp_tool_use", 6, members{"tool_call_id": "c2", "name": "forge.open", "server": "forge", "input": 1})
	s.add("e8", "tool.completed", 7, members{"tool_call_id": "c2", "output": members{"number": 7}, "fs_writes": []any{}})
	s.add("e9", "agent.memory_read", 8, members{"memory_id": "m1", "sha256": strings.Repeat("0a", 32)})
	s.add("e10", "session.compacted", 8, members{"snapshot_asset_id": "snap_1", "sha256": strings.Repeat("0b", 32)})
	s.add("e11", "span.completed", 9, members{"kind": "llm", "span_id": "s2", "provider": "p", "model": "m", "response_sha256": strings.Repeat("0c", 32)})
	s.add("e12", "session.message_appended", 9, members{"checkpoint_id": "cp_1"})
	s.add("e13", "artifact.created", 10, members{"artifact_id": "a1", "kind": "file", "sha256": strings.Repeat("0d", 32), "applied": true, "path": "a.txt", "operation": "create"})
	s.add("e14", "task.completed", 11, members{})
	return s
}

func readLog(t testing.TB, text []byte) *replay.Log {
	t.Helper()
	log, err := replay.ReadLog(bytes.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func parse(t testing.TB, text string) *replay.Request {
	t.Helper()
	r, err := replay.ParseRequest([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

func plan(t testing.TB, log *replay.Log, request string) *replay.Plan {
	t.Helper()
	p, err := replay.NewPlan(context.Background(), log, parse(t, request), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// events returns the events in the log of a replay.
func events(t testing.TB, p *replay.Plan, run replay.Run) (lines [][]byte) {
	t.Helper()
	for line, err := range p.Events(run) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, bytes.Clone(line))
	}
	return lines
}

// judge is a verifier that is slow to create, so all tests share it.
var judge = sync.OnceValue(func() *receipt.Verifier {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		panic(err)
	}
	return v
})

// recorded returns the draft that is recorded from a log.
func recorded(t testing.TB, lines [][]byte) *receipt.Draft {
	t.Helper()
	l, err := record.Read(bytes.NewReader(bytes.Join(lines, nil)), record.Options{Issuer: receipt.Issuer{ID: "harness_1"}}, record.FormEvents)
	if err != nil {
		t.Fatalf("%v\n%s", err, bytes.Join(lines, nil))
	}
	return l.Draft
}

// sealed seals a draft and returns the receipt.
func sealed(t testing.TB, d *receipt.Draft) *canon.Document {
	t.Helper()
	text, err := record.JSON(d)
	if err != nil {
		t.Fatal(err)
	}
	return sealText(t, text)
}

func document(t testing.TB, text []byte) *canon.Document {
	t.Helper()
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return doc
}

// deltas returns the deltas as text, one per line.
func deltas(list []receipt.Delta) string {
	var b strings.Builder
	for _, d := range list {
		text, err := json.Marshal(d)
		if err != nil {
			panic(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.String()
}
