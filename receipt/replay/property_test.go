package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// A dice value generates random logs and requests.
type dice struct{ *rand.Rand }

// one returns true with a probability of 1/n.
func (d dice) one(n int) bool { return d.IntN(n) == 0 }

func (d dice) pick(list ...string) string { return list[d.IntN(len(list))] }

// value returns a JSON value.
func (d dice) value(depth int) any {
	switch n := d.IntN(9); {
	case n == 0 && depth > 0:
		list := []any{}
		for range d.IntN(4) {
			list = append(list, d.value(depth-1))
		}
		return list
	case n < 4 && depth > 0:
		object := members{}
		for range d.IntN(4) {
			object[d.text()] = d.value(depth - 1)
		}
		return object
	case n == 4:
		return d.IntN(1000) - 500
	case n == 5:
		return d.Float64()
	case n == 6:
		return []any{nil, true, false}[d.IntN(3)]
	}
	return d.text()
}

func (d dice) text() string {
	return d.pick("", "a", "b/c", "d~e", "ö", "\u2028", `"`, "line\nline", "😀", "null") + fmt.Sprint(d.IntN(50))
}

func (d dice) digest() string { return strings.Repeat(fmt.Sprintf("%02x", d.IntN(256)), 32) }

// answer adds an answer to a payload, either as a value or as a digest, or adds nothing.
func (d dice) answer(payload members, name string) members {
	switch d.IntN(6) {
	case 0:
		payload[name+"_sha256"] = d.digest()
	case 1:
	default:
		payload[name] = d.value(3)
	}
	return payload
}

// log returns the log of task_1, which may be mixed with events of another task.
func (d dice) log() *source {
	s, other := &source{task: "task_1"}, &source{task: "task_2"}
	n := 0
	add := func(kind string, payload members) {
		n++
		s.add(fmt.Sprint("e", n), kind, n, payload)
		if d.one(6) { // an event of another task that uses the same names
			other.add(fmt.Sprint("o", n), kind, n, payload)
			s.between(other)
		}
	}
	add("task.submitted", members{"autonomy_tier": d.pick("act_auto", "shadow")})
	end := "task.canceled"
	if !d.one(4) {
		end = d.pick("task.completed", end)
		add("task.started", members{})
	}
	for i := range d.IntN(9) {
		call := fmt.Sprint("c", i)
		switch d.IntN(8) {
		case 0, 1:
			payload := d.answer(members{"kind": "llm", "provider": "p", "model": "m", "agent": d.pick("main", "scout", "x:y"), "input_tokens": 5, "cost": members{"amount": 0.25}}, "response")
			if d.one(2) {
				payload["span_id"] = fmt.Sprint("s", i)
			}
			for range 1 + d.IntN(2) { // repeated events with the same ID are one call, and events without an ID are separate calls
				add("span.completed", payload)
			}
		case 2, 3:
			payload := members{"tool_call_id": call, "name": d.pick("soil.read", "read file", "a/b~c"), "input": d.value(1)}
			if d.one(2) {
				payload["server"] = d.pick("forge", "f/g")
			}
			add("tool.requested", payload)
			end := d.answer(members{"tool_call_id": call, "status": "succeeded"}, "output")
			if end["output"] != nil && d.one(2) {
				add("agent.tool_result", members{"tool_call_id": call, "output": end["output"]})
			}
			if d.one(3) {
				end["fs_writes"] = []any{members{"path": "a.txt", "operation": "create", "after_sha256": d.digest()}}
			}
			add("tool.completed", end)
		case 4:
			add("agent.memory_read", members{"memory_id": d.pick("m1", "m2", "m/3"), "sha256": d.digest()})
		case 5:
			add("session.compacted", members{"snapshot_asset_id": fmt.Sprint("snap_", i), "sha256": d.digest()})
		case 6:
			add("artifact.created", members{"artifact_id": fmt.Sprint("a", i), "kind": "file", "sha256": d.digest()})
		case 7:
			add("vendor.note", members{"checkpoint_id": fmt.Sprint("cp_", i), "text": d.value(2)})
		}
	}
	add(end, members{})
	return s
}

// between inserts the last event of another task among the events of s. It does not change the
// sequence numbers.
func (s *source) between(other *source) {
	s.foreign = append(s.foreign, len(s.lines))
	s.lines = append(s.lines, other.lines[len(other.lines)-1])
}

// request replaces some of the answers.
func (d dice) request(log *replay.Log) string {
	all := members{}
	put := func(key string, kind string, more members) {
		o := members{"kind": kind}
		switch {
		case kind == "secret_value":
			o["value"] = "hunter2"
		case strings.HasPrefix(key, "time:") && strings.HasSuffix(key, "_at"):
		default:
			o["value"] = d.value(2)
			if d.one(2) {
				o["visibility"] = d.pick("public", "internal", "receipt_only")
			}
		}
		if d.one(3) {
			o["reason"] = d.text()
		}
		for name, value := range more {
			o[name] = value
		}
		all[key] = o
	}
	checkpoint := 0
	if d.one(4) {
		checkpoint = 1 + d.IntN(log.Events)
	}
	before := func(event string) bool { // restored answers must not be replaced
		n, err := strconv.Atoi(event[1:])
		return err == nil && n < checkpoint
	}
	for _, dep := range log.Dependencies {
		prefix, _, found := strings.Cut(dep.Key, ":")
		if !found || !d.one(3) || prefix != "time" && before(dep.EventID) {
			continue
		}
		kinds := map[string][]string{"llm": {"llm_provider_response"}, "mcp": {"mcp_tool_return", "tool_result"}, "host": {"host_fact", "tool_result"}}[prefix]
		switch {
		case prefix == "time":
			put(dep.Key, "time", members{"value": strings.Replace(d.timeOf(log, dep), "Z", ".250Z", 1)})
		case d.one(5) && !strings.Contains(dep.Key, " "):
			put(dep.Key, "secret_value", nil)
		case d.one(4), strings.Contains(dep.Key, " "): // an override must not have a key with a space, so it has a label instead
			put(prefix+":label:"+fmt.Sprint(len(all)), d.pick(kinds...), members{"event_id": dep.EventID})
		default:
			put(dep.Key, d.pick(kinds...), nil)
		}
	}
	if d.one(3) {
		put("host:added:1", "host_fact", nil)
	}
	if d.one(3) {
		put("secret:token", "secret_value", nil)
	}
	if d.one(4) {
		put("time:lunch", "time", nil)
	}
	if event := fmt.Sprint("e", 1+d.IntN(log.Events)); d.one(4) && !before(event) { // this override is rejected if the event records an answer or a time
		put("host:event:x", "event_payload", members{"event_id": event, "value": members{"artifact_id": "a", "kind": "file", "text": d.value(2)}})
	}
	for _, dep := range log.Dependencies {
		if dep.Kind == "artifact" && d.one(3) && !before(dep.EventID) {
			put("host:snapshot:"+dep.Key, "checkpoint_value", members{"event_id": dep.EventID})
		}
	}
	r := members{"mode": "with_overrides", "override": all}
	if checkpoint > 0 {
		r["mode"], r["checkpoint_event_id"] = "from_checkpoint", fmt.Sprint("e", checkpoint)
	}
	if d.one(2) {
		r["reason"] = "why"
	}
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// timeOf returns one of the times recorded for the task.
func (d dice) timeOf(log *replay.Log, dep record.Dependency) string {
	p, err := replay.NewPlan(context.Background(), log, &replay.Request{Mode: replay.Exact}, nil)
	if err != nil {
		panic(err)
	}
	a, err := p.Take(context.Background(), dep.Key)
	if err != nil {
		panic(err)
	}
	return strings.Trim(string(a.Value), `"`)
}

// A place describes a change in a receipt, and the expected finding.
type place struct {
	change func(members)
	want   string // a code followed by a pointer
}

// places returns the members of a replay receipt, each with a change that makes it incorrect.
func places(d members) (list []place) {
	const digest = "sha256:00000000000000000000000000000000000000000000000000000000000000ff"
	add := func(want string, change func(members)) { list = append(list, place{change, want}) }
	materials := func(d members) []any { return d["replay_input"].(members)["materials"].([]any) }
	for i, m := range materials(d) {
		if i == 0 {
			add("replay_source_mismatch /replay_input/materials/0/metadata/events", func(d members) {
				materials(d)[0].(members)["metadata"].(members)["events"] = 1000
			})
			add("replay_source_mismatch /replay_input/materials/0/sha256", func(d members) { materials(d)[0].(members)["sha256"] = digest })
			continue
		}
		at := fmt.Sprint("material_substituted /replay_input/materials/", i)
		add(at+"/sha256", func(d members) { materials(d)[i].(members)["sha256"] = digest })
		add(at+"/id", func(d members) { materials(d)[i].(members)["id"] = "another" })
		key := m.(members)["metadata"].(members)["override_key"]
		add(at+"/metadata/override_key", func(d members) {
			if materials(d)[i].(members)["metadata"] = (members{"override_key": "llm:x"}); key != nil {
				materials(d)[i].(members)["metadata"] = members{}
			}
		})
	}
	for i, v := range d["deltas"].([]any) {
		at := fmt.Sprint("delta_mismatch /deltas/", i, "/")
		delta := func(d members) members { return d["deltas"].([]any)[i].(members) }
		for _, name := range []string{"delta_id", "path", "override_key", "event_id", "reason", "artifact_id"} {
			add(at+name, func(d members) { delta(d)[name] = "another" })
		}
		add(at+"operation", func(d members) {
			delta(d)["operation"] = map[string]string{"add": "replace", "replace": "remove"}[v.(members)["operation"].(string)]
		})
		for _, name := range []string{"before_sha256", "after_sha256"} {
			add(at+name, func(d members) { delta(d)[name] = digest })
			if value, told := v.(members)[name]; told {
				add(at+name, func(d members) { delete(delta(d), name) })
				if value != nil {
					add(at+name, func(d members) { delta(d)[name] = nil })
				}
			}
		}
		add("delta_missing /deltas", func(d members) { d["deltas"] = slices.Delete(d["deltas"].([]any), i, i+1) })
	}
	add(fmt.Sprint("delta_unexpected /deltas/", len(d["deltas"].([]any))), func(d members) {
		d["deltas"] = append(d["deltas"].([]any), members{"operation": "add", "path": "/x", "override_key": "time:zzz"})
	})
	for name := range d["lifecycle"].(members) {
		if strings.HasSuffix(name, "_at") {
			add("replay_differs /lifecycle/"+name, func(d members) { d["lifecycle"].(members)[name] = "2026-01-01T00:00:00.5Z" })
		}
	}
	add("replay_differs /lifecycle/final_state", func(d members) {
		life := d["lifecycle"].(members)
		life["final_state"] = map[string]string{"SUCCEEDED": "CANCELED", "CANCELED": "SUCCEEDED"}[life["final_state"].(string)]
	})
	for name, entry := range map[string]members{
		"tool_calls": {"tool": "t", "call_id": "c", "status": "succeeded"}, "network_egress": {"destination": "https://a.example", "purpose": "p"},
		"fs_writes": {"path": "a", "operation": "create"}, "a2a_handoffs": {"target_agent": "a", "task_id": "t", "status": "completed"},
	} {
		add("replay_effect /side_effects/"+name+"/0", func(d members) { d["side_effects"].(members)[name] = []any{entry} })
	}
	if d["replay_input"].(members)["determinism"] == "best_effort" {
		add("replay_differs /replay_input/determinism", func(d members) { d["replay_input"].(members)["determinism"] = "byte_deterministic" })
	}
	add("replay_effect /approvals/0", func(d members) {
		d["approvals"] = []any{members{"action": "a", "decision": "approved", "actor": "x", "decided_at": "2026-01-01T00:00:01Z"}}
	})
	add("replay_effect /cost/provider_breakdown/0", func(d members) {
		d["cost"].(members)["provider_breakdown"] = []any{members{"provider": "p", "amount": 0}}
	})
	add("replay_effect /cost/total", func(d members) { d["cost"].(members)["total"] = 0.5 })
	for _, name := range []string{"usd", "input_tokens", "output_tokens", "tool_calls", "wall_time_ms"} {
		add("replay_effect /autonomy_budget/consumed/"+name, func(d members) { d["autonomy_budget"].(members)["consumed"].(members)[name] = 1 })
	}
	return list
}

// TestRandomReplays verifies that the receipt of an honest replay is verified, for any log, any
// request, and any names of events. Each single change must lead to exactly one finding. The variable
// RECEIPT_REPLAYS sets the number of logs, such as 10000.
func TestRandomReplays(t *testing.T) {
	logs := testsize.Of(50, 600, 2000)
	if n, err := strconv.Atoi(os.Getenv("RECEIPT_REPLAYS")); err == nil {
		logs = n
	}
	for seed := range uint64(logs) {
		d := dice{rand.New(rand.NewPCG(seed, 15))}
		text := d.log().bytes()
		log, err := replay.ReadLog(bytes.NewReader(text), "task_1")
		if err != nil {
			t.Fatalf("log %d: %v\n%s", seed, err, text)
		}
		request := d.request(log)
		asked, err := replay.ParseRequest([]byte(request))
		var p *replay.Plan
		if err == nil {
			p, err = replay.NewPlan(context.Background(), log, asked, nil)
		}
		var refused *replay.RequestError
		if errors.As(err, &refused) && strings.HasSuffix(refused.Param, ".event_id") && strings.Contains(request, "host:event:x") {
			continue // the event contains an answer or a time, so it cannot be replaced
		}
		if err != nil {
			t.Fatalf("log %d: %v\n%s\n%s", seed, err, text, request)
		}
		told := recorded(t, events(t, p, replay.Run{TaskID: "task_3"}))
		for _, line := range events(t, p, replay.Run{TaskID: "task_3", Remap: seed%2 == 0, LogURI: "ö"}) {
			if again, err := canon.Transform(line); err != nil || string(line) != string(again)+"\n" {
				t.Fatalf("log %d: not canonical: %s, %v", seed, line, err)
			}
		}
		if got, want := deltas(told.Deltas), deltas(p.Deltas()); got != want {
			t.Fatalf("log %d: the deltas of the receipt are\n%s\nof the plan\n%s", seed, got, want)
		}
		honest := sealed(t, told)
		if got, want := replay.Bytes(sealed(t, recorded(t, events(t, p, replay.Run{TaskID: "task_4", Remap: true}))), replay.Projection), replay.Bytes(honest, replay.Projection); !bytes.Equal(got, want) {
			t.Fatalf("log %d, remapped:\n%s\nwant\n%s", seed, got, want)
		}
		if rep, _ := check(t, p, honest); rep.Verdict != receipt.Verified {
			t.Fatalf("log %d: %q\n%s\n%s", seed, findings(rep), text, request)
		}

		// A module that runs again must get the replayed answers.
		for _, m := range told.ReplayInput.Materials[1:] {
			a, err := plan(t, log, request).Take(context.Background(), m.ID)
			var missing *replay.UnavailableError
			if err != nil && !errors.As(err, &missing) || err == nil && a.SHA256 != m.SHA256 {
				t.Fatalf("log %d: the answer for %s is %s, %v, and the report is %s\n%s\n%s", seed, m.ID, a.SHA256, err, m.SHA256, text, request)
			}
		}

		// For some logs, every change is tested separately. For all other logs, only one change is
		// tested.
		var fields members
		draft, err := json.Marshal(told)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(draft, &fields); err != nil {
			t.Fatal(err)
		}
		list := places(fields)
		if seed%50 != 0 {
			at := d.IntN(len(list))
			list = list[at : at+1]
		}
		for _, c := range list {
			var changed members
			if err := json.Unmarshal(draft, &changed); err != nil {
				t.Fatal(err)
			}
			c.change(changed)
			altered, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			rep, _ := check(t, p, sealText(t, altered))
			if got := strings.Join(findings(rep), ", "); got != c.want {
				t.Errorf("log %d: %s\nwant %s\n%s\n%s", seed, got, c.want, text, request)
			}
		}

		d.changeLog(t, text, request, log, honest)
		d.changeRequest(t, log, request, p, honest)
		if t.Failed() {
			return
		}
	}
}

// changeLog changes one byte of the log. If the log can still be read and matches the request, the
// check must report a mismatch unless the digest is the same.
func (d dice) changeLog(t *testing.T, text []byte, request string, log *replay.Log, honest *canon.Document) {
	t.Helper()
	other := bytes.Clone(text)
	at := d.IntN(len(other))
	if other[at] = "0a9z\"} ,"[d.IntN(8)]; bytes.Equal(other, text) {
		return
	}
	changed, err := replay.ReadLog(bytes.NewReader(other), "task_1")
	if err != nil {
		return
	}
	want := "replay_source_mismatch /replay_input/materials/0/sha256"
	if changed.Digest == log.Digest {
		want = ""
	}
	p, err := replay.NewPlan(context.Background(), changed, parse(t, request), nil)
	if err != nil && want != "" {
		return // the request does not match this log
	}
	if err != nil {
		t.Fatal(err)
	}
	rep, _ := check(t, p, honest)
	if got := strings.Join(findings(rep), ", "); got != want {
		t.Errorf("byte %d of the log: %s, want %s\n%s", at, got, want, other)
	}
}

// changeRequest changes the value of one override. The value of a secret must leave no trace.
func (d dice) changeRequest(t *testing.T, log *replay.Log, request string, p *replay.Plan, honest *canon.Document) {
	t.Helper()
	var fields members
	if err := json.Unmarshal([]byte(request), &fields); err != nil {
		t.Fatal(err)
	}
	list := p.Deltas()
	if len(list) == 0 {
		return
	}
	i := d.IntN(len(list))
	o := fields["override"].(members)[list[i].OverrideKey].(members)
	want := fmt.Sprint("delta_mismatch /deltas/", i, "/after_sha256")
	switch {
	case o["kind"] == "secret_value":
		want = ""
		o["value"] = "hunter3"
	case strings.HasPrefix(list[i].Path, "/lifecycle/"):
		o["value"] = strings.Replace(o["value"].(string), ".250Z", ".125Z", 1)
	default:
		o["value"] = members{"another": "value", "artifact_id": "a", "kind": "file"}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	rep, _ := check(t, plan(t, log, string(text)), honest)
	if got := strings.Join(findings(rep), ", "); got != want {
		t.Errorf("the override %s: %s, want %s\n%s", list[i].OverrideKey, got, want, text)
	}
}
