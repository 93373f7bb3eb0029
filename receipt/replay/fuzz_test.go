package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// FuzzReadLog verifies that no file causes a panic, and that a log that can be read has answers and
// can be replayed. The seeds are short because the fuzzer first minimizes each new input for up to
// a minute, and the time for this grows with the square of the input's length. The flag
// -fuzzminimizetime 1x avoids this delay.
func FuzzReadLog(f *testing.F) {
	line := func(n int, kind, payload string) string {
		return fmt.Sprintf(`{"id":"%d","event":"%s","resource":{"object":"task","id":"t"},"created_at":"2026-01-01T00:00:00Z","sequence":%[1]d,"payload":{%[3]s}}`+"\n", n, kind, payload)
	}
	for _, e := range [][2]string{
		{"span.completed", `"kind":"llm","response":1`}, {"tool.completed", `"tool_call_id":"c","output":[]`}, {"agent.memory_read", `"memory_id":"m"`}, {"session.compacted", `"snapshot_asset_id":"s"`},
	} {
		f.Add([]byte(line(0, "task.started", "")+line(1, e[0], e[1])+line(2, "task.completed", "")), "")
	}
	f.Add([]byte(line(1, "task.canceled", "")), "t")
	f.Add([]byte("{}\n"), "t")
	f.Fuzz(func(t *testing.T, text []byte, task string) {
		log, err := replay.ReadLog(bytes.NewReader(text), task)
		if err != nil {
			return
		}
		p := plan(t, log, ``)
		for _, d := range log.Dependencies {
			var missing *replay.UnavailableError
			if a, err := p.Take(context.Background(), d.Key); err != nil && !errors.As(err, &missing) && !errors.Is(err, replay.ErrTaken) {
				t.Fatal(err)
			} else if err == nil && canon.Sum(a.Value) != a.SHA256 {
				t.Fatalf("%s: another digest", d.Key)
			}
		}
		for line, err := range p.Events(replay.Run{TaskID: log.TaskID + "x"}) {
			var refused *event.Error
			if err != nil && !errors.As(err, &refused) {
				t.Fatal(err)
			}
			if err == nil && line[len(line)-1] != '\n' {
				t.Fatal("no line")
			}
		}
	})
}

// deeds returns events that record answers or other facts. The events use only a few names.
func deeds() (list []struct {
	kind    string
	payload members
}) {
	add := func(kind string, payload members) {
		list = append(list, struct {
			kind    string
			payload members
		}{kind, payload})
	}
	for _, id := range []string{"", "s1", "s2"} {
		for _, answer := range []members{{"response": 1}, {"response": members{"a": "b"}}, {"response_sha256": "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"}, {"response_uri": "r"}, {}} {
			payload := members{"kind": "llm", "span_id": id, "provider": "p", "model": "m"}
			for name, value := range answer {
				payload[name] = value
			}
			add("span.completed", payload)
		}
		add("span.started", members{"kind": "llm", "span_id": id, "model": "m"})
		add("span.failed", members{"kind": "llm", "span_id": id})
	}
	for _, call := range []string{"c1", "c2"} {
		add("tool.requested", members{"tool_call_id": call, "name": "read", "input": 1})
		add("tool.requested", members{"tool_call_id": call, "name": "open", "server": "forge"})
		add("agent.mcp_tool_use", members{"tool_call_id": call, "name": "open", "server": "forge"})
		for _, kind := range []string{"tool.completed", "agent.tool_result", "tool.failed"} {
			add(kind, members{"tool_call_id": call})
			add(kind, members{"tool_call_id": call, "output": "dry"})
			add(kind, members{"tool_call_id": call, "output": nil, "name": "read"})
		}
	}
	for _, id := range []string{"m1", "m2"} {
		add("agent.memory_read", members{"memory_id": id})
		add("agent.memory_read", members{"memory_id": id, "sha256": canon.Sum([]byte(id))})
		add("session.compacted", members{"snapshot_asset_id": id, "sha256": canon.Sum([]byte(id))})
	}
	add("vendor.note", members{"checkpoint_id": "cp"})
	add("artifact.created", members{"artifact_id": "a", "kind": "file"})
	return list
}

// FuzzReplay verifies that the log of a replay can be recorded and that its receipt matches the
// replay, for any sequence of events and any replaced answers.
func FuzzReplay(f *testing.F) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // each input allocates little, and all of it becomes garbage
	all := deeds()
	for i := range all {
		f.Add([]byte{byte(i), byte(i), byte(i + 7)}, []byte{1, 0, 2, 3}, byte(i))
	}
	f.Fuzz(func(t *testing.T, picks, swaps []byte, from byte) {
		s := &source{task: "task_1"}
		s.add("e0", "task.submitted", 1, members{"autonomy_tier": "act_auto"})
		s.add("e1", "task.started", 2, members{})
		for i, pick := range picks[:min(len(picks), 12)] {
			e := all[int(pick)%len(all)]
			s.add(fmt.Sprint("e", i+2), e.kind, 3, e.payload)
		}
		s.add("end", "task.completed", 4, members{})
		log, err := replay.ReadLog(bytes.NewReader(s.bytes()), "")
		if err != nil {
			return // the recorder rejected an invalid sequence of events
		}

		asked := &replay.Request{Mode: replay.WithOverrides, Overrides: overridesOf(t, log, swaps)}
		if from%4 == 0 {
			asked.Mode, asked.CheckpointEventID = replay.FromCheckpoint, fmt.Sprint("e", from/4)
		}
		p, err := replay.NewPlan(context.Background(), log, asked, nil)
		var missing *replay.UnavailableError
		var refused *replay.RequestError
		if errors.As(err, &missing) && missing.Checkpoint() || errors.As(err, &refused) && asked.Mode == replay.FromCheckpoint {
			return // the checkpoint does not exist, or an answer precedes it
		}
		if err != nil {
			t.Fatal(err)
		}
		kept, err := draftOf(events(t, p, replay.Run{TaskID: "task_2"}))
		if err != nil {
			t.Fatalf("%v\n%s", err, s.bytes())
		}
		if got, want := deltas(kept.Deltas), deltas(p.Deltas()); got != want {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
		doc := sealed(t, kept)
		if rep, _ := check(t, p, doc); rep.Verdict != receipt.Verified {
			t.Fatalf("%q\n%s", findings(rep), s.bytes())
		}
		other, err := draftOf(events(t, p, replay.Run{TaskID: "task_3", Remap: true}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := replay.Compare(unsealed(t, kept), unsealed(t, other), replay.Projection); diff != nil {
			t.Fatalf("%v\n%s", diff, s.bytes())
		}
		for _, m := range kept.ReplayInput.Materials[1:] {
			if a, err := p.Take(context.Background(), m.ID); err == nil && a.SHA256 != m.SHA256 || err != nil && !errors.As(err, &missing) {
				t.Fatalf("%s: %s, %v, reported as %s\n%s", m.ID, a.SHA256, err, m.SHA256, s.bytes())
			}
		}
	})
}

func unsealed(t testing.TB, d *receipt.Draft) *canon.Document {
	t.Helper()
	text, err := record.JSON(d)
	if err != nil {
		t.Fatal(err)
	}
	return document(t, text)
}

func draftOf(lines [][]byte) (*receipt.Draft, error) {
	l, err := record.Read(bytes.NewReader(bytes.Join(lines, nil)), record.Options{Issuer: receipt.Issuer{ID: "i"}}, record.FormEvents)
	if err != nil {
		return nil, err
	}
	return l.Draft, nil
}

// overridesOf creates an override for each nonzero byte. The byte selects one of three forms.
func overridesOf(t *testing.T, log *replay.Log, swaps []byte) []replay.Override {
	all := ""
	for i, d := range log.Dependencies {
		prefix, err := replay.KeyPrefix(d.Key)
		kinds := map[string]string{"llm": "llm_provider_response", "mcp": "mcp_tool_return", "host": "host_fact"}
		if i >= len(swaps) || swaps[i] == 0 || err != nil || kinds[prefix] == "" {
			continue
		}
		o := []string{
			`{"kind":"` + kinds[prefix] + `","value":1,"visibility":"public"}`,
			`{"kind":"` + kinds[prefix] + `","value":{"a":"b"}}`,
			`{"kind":"secret_value","value":"x"}`,
		}[swaps[i]%3]
		if all != "" {
			all += ","
		}
		all += string(canon.AppendString(nil, d.Key)) + ":" + o
	}
	return parse(t, `{"mode":"with_overrides","override":{`+all+`}}`).Overrides
}
