package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// These are the digests of the two values in the published request.
const (
	trueResponse = "sha256:f6b0ea0e0508850baa308f6d4c2ad5b897612b548911185bfe3d426a136cd8b9"
	trueTime     = "sha256:0d8835fa600686b398e6284d7ab628aca3fb58e5a6be3f0cf7a4391c9f70246d"
)

func published(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors.Dir(t, "harn"), name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// upstream returns a log that matches the published request, because no log is published.
func upstream() *source {
	s := &source{task: "task_source_01JZ6Y2ZKMB8H8DMXBGXR1FPGS"}
	s.addAt("event_01JZ6999", "task.submitted", "2026-04-25T19:16:10Z", members{
		"autonomy_tier": "act_auto", "policy_ref": "policy_replay_conformance", "trace_id": "trace_replay_fixture",
		"model_route": members{"chosen_model": members{"provider": "fixture", "model": "replay-fixture"}, "route_policy_reason": "replayed from recorded provider response"},
	})
	s.addAt("event_01JZ7000", "task.started", "2026-04-25T19:16:12Z", members{})
	s.addAt("event_01JZ7001", "span.completed", "2026-04-25T19:16:40Z", members{"kind": "llm", "provider": "fixture", "model": "replay-fixture",
		"response": members{"id": "chatcmpl_fixture_0", "choices": []any{members{"message": members{"role": "assistant", "content": "denied"}}}}})
	s.addAt("event_01JZ7002", "task.completed", "2026-04-25T19:17:33Z", members{})
	for i, line := range s.lines {
		line = bytes.Replace(line, []byte(`"session_1"`), []byte(`"session_replay_fixture"`), 1)
		s.lines[i] = bytes.Replace(line, []byte(`"workspace_1"`), []byte(`"workspace_replay_fixture"`), 1)
	}
	return s
}

// TestUpstreamRequest verifies that the published request is well-formed and states two incorrect
// digests.
func TestUpstreamRequest(t *testing.T) {
	p := plan(t, readLog(t, upstream().bytes()), string(published(t, "task-replay-request.json")))
	got := p.Mismatches()
	if len(got) != 2 || got[0].Computed.String() != trueResponse || got[1].Computed.String() != trueTime ||
		got[0].Param() != "override.llm:main:1.sha256" || got[1].Param() != "override.time:started_at.sha256" {
		t.Errorf("%+v", got)
	}
	for i, stated := range []string{"a", "b"} {
		if got[i].Stated.String() != "sha256:"+strings.Repeat(stated, 64) {
			t.Errorf("%+v", got[i])
		}
	}
}

// corrected returns the published request with the computed digests.
func corrected(t testing.TB) string {
	text := string(published(t, "task-replay-request.json"))
	text = strings.Replace(text, "sha256:"+strings.Repeat("a", 64), trueResponse, 1)
	return strings.Replace(text, "sha256:"+strings.Repeat("b", 64), trueTime, 1)
}

// TestUpstreamDeltas verifies that the two deltas equal those in the published receipt, except for
// its placeholder digests.
func TestUpstreamDeltas(t *testing.T) {
	var want receipt.Draft
	if err := json.Unmarshal(published(t, "task-replay-receipt.json"), &want); err != nil {
		t.Fatal(err)
	}
	p := plan(t, readLog(t, upstream().bytes()), corrected(t))
	if p.Mismatches() != nil {
		t.Error(p.Mismatches())
	}
	got := p.Deltas()
	for i := range got {
		if got[i].BeforeSHA256.Digest.IsZero() || got[i].AfterSHA256.Digest.IsZero() {
			t.Errorf("%+v", got[i])
		}
		got[i].BeforeSHA256, got[i].AfterSHA256 = want.Deltas[i].BeforeSHA256, want.Deltas[i].AfterSHA256
	}
	if !slices.Equal(got, want.Deltas) {
		t.Errorf("%s\nwant\n%s", deltas(got), deltas(want.Deltas))
	}
}

// profiled adds an artifact that the published profile contains but no log records. The replay
// creates the artifact before it completes.
func profiled(t testing.TB, lines [][]byte, task string) (out [][]byte) {
	t.Helper()
	made := false
	for _, line := range lines {
		var e members
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		own := e["resource"].(members)["id"] == task
		if e["event"] == "replay.completed" {
			artifact := members{}
			for name, value := range e {
				artifact[name] = value
			}
			artifact["id"], artifact["event"] = "artifact_made", "artifact.created"
			artifact["payload"] = members{"artifact_id": "artifact_replay_output", "kind": "dataset", "uri": "artifact://artifact_replay_output", "sha256": strings.Repeat("d", 64)}
			out, made = append(out, jsonLine(t, artifact)), true
		}
		if own && made {
			e["sequence"] = e["sequence"].(float64) + 1
		}
		out = append(out, jsonLine(t, e))
	}
	return out
}

func jsonLine(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// TestUpstreamReceipt verifies that, with the IDs from the published profile, the receipt for the
// replay equals the published receipt. Only the placeholder digests and the merkle_root, which
// cannot match, may differ.
func TestUpstreamReceipt(t *testing.T) {
	const task = "task_replay_01JZ6Y2ZKMB8H8DMXBGXR1FPGS"
	log := readLog(t, upstream().bytes())
	p := plan(t, log, corrected(t))
	lines := profiled(t, events(t, p, replay.Run{TaskID: task, LogURI: "artifact://artifact_event_log_source_task"}), task)
	l, err := record.Read(bytes.NewReader(bytes.Join(lines, nil)), record.Options{
		ReceiptID: "receipt_replay_01JZ6Y3B5K0QJ9GM61VZKX7P6G",
		Issuer:    receipt.Issuer{ID: "harness_conformance", Kind: "harness", Name: "Harn replay conformance", Version: "agents-protocol-2026-04-25"},
	}, record.FormEvents)
	if err != nil {
		t.Fatal(err)
	}

	// The profile has another ID for the log's material, and other metadata. Members that the
	// profile does not contain are cleared. The draft has approvals, which the published receipt
	// omits.
	d := l.Draft
	d.ReplayInput.Materials[0].ID, d.ReplayInput.Materials[0].Metadata = "event_log_source_task", nil
	d.Metadata = receipt.Object{"source": "agents-protocol-replay-conformance-fixture", "source_task_id": log.TaskID, "replay_mode": d.Metadata["replay_mode"]}
	head, err := canon.ParseDigest("sha256:" + strings.Repeat("e", 64))
	if err != nil {
		t.Fatal(err)
	}
	s, err := receipt.Seal(d, chain.Head{Hash: head})
	if err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, diff := range replay.Compare(document(t, published(t, "task-replay-receipt.json")), document(t, s.JSON()), replay.Strict) {
		got = append(got, diff.Pointer)
	}
	want := []string{
		"/replay_input/materials/0/sha256", "/replay_input/materials/1/sha256", "/chain/receipt_hash", "/chain/merkle_root",
		"/deltas/0/before_sha256", "/deltas/0/after_sha256", "/deltas/1/before_sha256", "/deltas/1/after_sha256", "/approvals",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestTwoHarnesses verifies that two harnesses issue the same receipt. The first harness writes the
// recorded events again. The second harness runs its module again, requests the answers, and writes
// its own log, with other IDs, another clock, another order of members, and other whitespace.
func TestTwoHarnesses(t *testing.T) {
	log := readLog(t, upstream().bytes())
	told := recorded(t, events(t, plan(t, log, corrected(t)), replay.Run{TaskID: "task_a"}))
	p := plan(t, log, corrected(t))
	ran := recorded(t, rerun(t, p, "task_b"))
	a, b := sealed(t, told), sealed(t, ran)
	if diff := replay.Compare(a, b, replay.Projection); diff != nil {
		t.Error(diff)
	}
	if !bytes.Equal(replay.Bytes(a, replay.Projection), replay.Bytes(b, replay.Projection)) {
		t.Error("other bytes")
	}
	for _, doc := range []*canon.Document{a, b} {
		if rep, _ := check(t, p, doc); rep.Verdict != receipt.Verified {
			t.Errorf("%+v", rep.Checks)
		}
	}

	// If the IDs are pinned, all bytes are equal.
	ran.ReceiptID, ran.Subject.ID, ran.Identifiers, ran.Metadata = told.ReceiptID, told.Subject.ID, told.Identifiers, told.Metadata
	if diff := replay.Compare(a, sealed(t, ran), replay.Strict); diff != nil {
		t.Error(diff)
	}
}

// rerun runs the module of a harness again. The module requests each answer and logs it.
func rerun(t testing.TB, p *replay.Plan, task string) (lines [][]byte) {
	t.Helper()
	take := func(key string) json.RawMessage {
		a, err := p.Take(context.Background(), key)
		if err != nil {
			t.Fatal(err)
		}
		return a.Value
	}
	say := func(kind string, at any, payload, more members) {
		e := members{"id": "own_" + kind + string(rune('a'+len(lines))), "event": kind, "resource": members{"id": task, "object": "task"}, "sequence": len(lines),
			"created_at": at, "payload": payload, "session_id": "session_replay_fixture", "workspace_id": "workspace_replay_fixture", "task_id": task}
		for name, value := range more {
			e[name] = value
		}
		text, err := json.MarshalIndent(e, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, append(bytes.ReplaceAll(text, []byte("\n"), []byte("\t")), '\n'))
	}
	again := func(of string) members {
		return members{"replayed": true, "replay": members{"source_task_id": p.Log.TaskID, "replay_task_id": task, "original_event_id": of}}
	}

	const clock = "2031-05-05T05:05:05Z" // the clock of the machine on which the module runs
	say("task.submitted", clock, members{"autonomy_tier": "act_auto", "policy_ref": "policy_replay_conformance",
		"model_route": members{"chosen_model": members{"model": "replay-fixture", "provider": "fixture"}, "route_policy_reason": "replayed from recorded provider response"}}, nil)
	say("task.started", clock, members{}, nil)
	say("replay.started", clock, members{"source_task_id": p.Log.TaskID, "mode": "with_overrides", "source_log_sha256": p.Log.Digest, "source_log_events": p.Log.Events}, nil)
	say("task.submitted", take("time:created_at"), members{}, again("event_01JZ6999"))
	started := take("time:started_at")
	say("task.started", started, members{}, again("event_01JZ7000"))
	response := take("llm:main:1")
	say("span.completed", clock, members{"model": "replay-fixture", "provider": "fixture", "kind": "llm", "response": response}, again("event_01JZ7001"))
	for _, d := range p.Deltas() {
		payload := members{"override_key": d.OverrideKey, "event_id": d.EventID, "before_sha256": d.BeforeSHA256, "after_sha256": d.AfterSHA256, "reason": d.Reason}
		if d.OverrideKey == "time:started_at" {
			payload["value"] = started
		}
		say("replay.event_replayed", clock, payload, nil)
	}
	say("task.completed", take("time:completed_at"), members{}, again("event_01JZ7002"))
	if left := p.Untaken(); left != nil {
		t.Errorf("not asked for: %q", left)
	}
	say("replay.completed", clock, members{}, nil)
	say("task.completed", clock, members{}, nil)
	return lines
}
