package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

func sealText(t testing.TB, text []byte) *canon.Document {
	t.Helper()
	s, err := receipt.SealDocument(document(t, text), chain.Head{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return document(t, s.JSON())
}

const overrides = `{"mode":"with_overrides","reason":"why","override":{
	"llm:main:1":{"kind":"llm_provider_response","value":{"text":"approved"},"visibility":"internal"},
	"mcp:forge:c2":{"kind":"mcp_tool_return","value":{"number":8}},
	"host:label:x":{"kind":"tool_result","event_id":"e6","value":"wet","visibility":"public","reason":"its own"},
	"host:added:1":{"kind":"host_fact","value":1},
	"host:memory:m1":{"kind":"host_fact","value":"seed"},
	"secret:token":{"kind":"secret_value","value":"hunter2-hunter2"},
	"time:started_at":{"kind":"time","value":"2026-01-01T00:00:02.500Z"},
	"time:lunch":{"kind":"time","value":12}}}`

// TestLog verifies that the digest of a log matches the digest in its receipt, and that the
// dependencies are in the order of their events.
func TestLog(t *testing.T) {
	s := garden()
	log := readLog(t, s.bytes())
	d := recorded(t, [][]byte{s.bytes()})
	if log.Digest != d.ReplayInput.Materials[0].SHA256 || log.TaskID != "task_1" || log.Events != 14 {
		t.Errorf("%s, %s, %d events", log.Digest, log.TaskID, log.Events)
	}
	var got []string
	for _, x := range log.Dependencies {
		got = append(got, x.EventID+" "+x.Key)
	}
	const want = "e1 time:created_at, e2 time:started_at, e3 llm:main:1, e6 host:soil.read:c1, e8 mcp:forge:c2, e9 host:memory:m1, e10 snap_1, e11 llm:main:2, e14 time:completed_at"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, ", "), want)
	}
}

// TestLogsThatAreNone verifies that a log that cannot be recorded cannot be replayed either.
func TestLogsThatAreNone(t *testing.T) {
	gap := garden()
	gap.lines = append(gap.lines[:3:3], gap.lines[4:]...)
	open := garden()
	open.lines = open.lines[:5]
	log := readLog(t, garden().bytes())
	again := bytes.Join(events(t, plan(t, log, ``), replay.Run{TaskID: "task_2"}), nil)
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"a gap":        {gap.bytes(), "gap"},
		"no end":       {open.bytes(), "has not ended"},
		"a replay":     {again, "itself a replay"},
		"no log":       {[]byte("{}\n"), "malformed"},
		"an empty one": {nil, "has not ended"},
	} {
		if _, err := replay.ReadLog(bytes.NewReader(c.text), ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDeltas verifies the deltas for the three states of a digest.
func TestDeltas(t *testing.T) {
	p := plan(t, readLog(t, garden().bytes()), overrides)
	sum := func(s string) string { return canon.Sum([]byte(s)).String() }
	want := strings.Join([]string{
		`{"delta_id":"delta_host_label_x","operation":"replace","path":"/replay_input/materials/host:soil.read:c1","override_key":"host:label:x","event_id":"e6","before_sha256":"` + sum(`"dry"`) + `","after_sha256":"` + sum(`"wet"`) + `","reason":"its own"}`,
		`{"delta_id":"delta_host_memory_m1","operation":"replace","path":"/replay_input/materials/host:memory:m1","override_key":"host:memory:m1","event_id":"e9","before_sha256":"sha256:` + strings.Repeat("0a", 32) + `","after_sha256":"` + sum(`"seed"`) + `","reason":"why"}`,
		`{"delta_id":"delta_llm_main_1","operation":"replace","path":"/replay_input/materials/llm:main:1","override_key":"llm:main:1","event_id":"e3","before_sha256":"` + sum(`{"text":"look"}`) + `","after_sha256":"` + sum(`{"text":"approved"}`) + `","reason":"why"}`,
		`{"delta_id":"delta_mcp_forge_c2","operation":"replace","path":"/replay_input/materials/mcp:forge:c2","override_key":"mcp:forge:c2","event_id":"e8","before_sha256":"` + sum(`{"number":7}`) + `","after_sha256":"` + sum(`{"number":8}`) + `","reason":"why"}`,
		`{"delta_id":"delta_secret_token","operation":"replace","path":"/replay_input/overrides/secret:token","override_key":"secret:token","reason":"why"}`,
		`{"delta_id":"delta_time_started_at","operation":"replace","path":"/lifecycle/started_at","override_key":"time:started_at","event_id":"e2","before_sha256":"` + sum(`"2026-01-01T00:00:02Z"`) + `","after_sha256":"` + sum(`"2026-01-01T00:00:02.500Z"`) + `","reason":"why"}`,
	}, "\n") + "\n"
	if got := deltas(p.Deltas()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}

	// The receipt for the replay must list the same values, regardless of the names of its events.
	for _, remap := range []bool{false, true} {
		d := recorded(t, events(t, p, replay.Run{TaskID: "task_2", Remap: remap}))
		if got := deltas(d.Deltas); got != want {
			t.Errorf("remapped %t: %s\nwant\n%s", remap, got, want)
		}
	}
}

// TestTake verifies that each answer is returned once, and that it is either the recorded answer or
// the answer from the override.
func TestTake(t *testing.T) {
	ctx := context.Background()
	p := plan(t, readLog(t, garden().bytes()), overrides)
	for _, c := range []struct{ key, value, from string }{
		{"llm:main:1", `{"text":"approved"}`, "llm:main:1"}, {"host:label:x", `"wet"`, "host:label:x"}, {"mcp:forge:c2", `{"number":8}`, "mcp:forge:c2"},
		{"secret:token", `"hunter2-hunter2"`, "secret:token"}, {"time:created_at", `"2026-01-01T00:00:01Z"`, ""}, {"host:added:1", "1", "host:added:1"},
	} {
		a, err := p.Take(ctx, c.key)
		if err != nil || string(a.Value) != c.value || a.Override != c.from {
			t.Errorf("%s: %s from %q, %v", c.key, a.Value, a.Override, err)
		}
		if _, err := p.Take(ctx, c.key); !errors.Is(err, replay.ErrTaken) {
			t.Errorf("%s twice: %v", c.key, err)
		}
		if text := fmt.Sprintf("%v %+v %#v", a, a, a); strings.Contains(text, "hunter2") {
			t.Error(text)
		}
	}
	var missing *replay.UnavailableError
	if _, err := p.Take(ctx, "llm:main:2"); !errors.As(err, &missing) || missing.EventID != "e11" {
		t.Error(err)
	}
	if _, err := p.Take(ctx, "llm:other:1"); !errors.As(err, &missing) {
		t.Error(err)
	}
	if got := strings.Join(p.Untaken(), " "); got != "time:started_at host:memory:m1 snap_1 llm:main:2 time:completed_at time:lunch" {
		t.Error(got)
	}

	// This is the first missing answer in the order of events.
	if u := p.Unavailable(); u == nil || u.Key != "snap_1" {
		t.Error(u)
	}
	if u := plan(t, readLog(t, garden().bytes()), ``).Unavailable(); u == nil || u.Object != "memory" || u.EventID != "e9" {
		t.Error(u)
	}
}

// TestTakenOnce verifies that only one of many concurrent callers gets an answer.
func TestTakenOnce(t *testing.T) {
	p := plan(t, readLog(t, garden().bytes()), ``)
	got := make(chan error)
	for range 16 {
		go func() {
			_, err := p.Take(context.Background(), "llm:main:1")
			got <- err
		}()
	}
	taken := 0
	for range 16 {
		if err := <-got; err == nil {
			taken++
		} else if !errors.Is(err, replay.ErrTaken) {
			t.Error(err)
		}
	}
	if taken != 1 {
		t.Errorf("taken %d times", taken)
	}
}

// TestPlansThatAreNone verifies that a request that does not match the log is rejected.
func TestPlansThatAreNone(t *testing.T) {
	log := readLog(t, garden().bytes())
	llm := func(more string) string { return `{"kind":"llm_provider_response",` + more + `}` }
	for name, c := range map[string]struct{ request, param, object string }{
		"another event":                 {with("llm:main:1", llm(`"value":1,"event_id":"e11"`)), "override.llm:main:1.event_id", ""},
		"one dependency twice":          {`{"mode":"with_overrides","override":{"llm:a":` + llm(`"value":1,"event_id":"e3"`) + `,"llm:main:1":` + llm(`"value":1`) + `}}`, "override.llm:main:1", ""},
		"no artifact":                   {with("llm:main:1", llm(`"artifact_id":"a"`)), "", "artifact"},
		"no such event":                 {with("host:e:1", `{"kind":"event_payload","event_id":"e99","value":{}}`), "", "event"},
		"the payload of an answer":      {with("host:e:1", `{"kind":"event_payload","event_id":"e3","value":{}}`), "override.host:e:1.event_id", ""},
		"the payload of a question":     {with("host:e:1", `{"kind":"event_payload","event_id":"e4","value":{}}`), "override.host:e:1.event_id", ""},
		"the payload of a time":         {with("host:e:1", `{"kind":"event_payload","event_id":"e2","value":{}}`), "override.host:e:1.event_id", ""},
		"an answer's key for a payload": {with("llm:main:1", `{"kind":"event_payload","event_id":"e12","value":{}}`), "override.llm:main:1.event_id", ""},
		"no such checkpoint":            {`{"mode":"from_checkpoint","checkpoint_id":"cp_9"}`, "", "event"},
		"two checkpoints":               {`{"mode":"from_checkpoint","checkpoint_id":"cp_1","checkpoint_event_id":"e3"}`, "checkpoint_event_id", ""},
	} {
		p, err := replay.NewPlan(context.Background(), log, parse(t, c.request), nil)
		if p != nil {
			t.Errorf("%s: a plan", name)
		}
		var refused *replay.RequestError
		var missing *replay.UnavailableError
		switch {
		case errors.As(err, &refused) && refused.Param == c.param:
		case errors.As(err, &missing) && missing.Object == c.object:
		default:
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckpointOfTwoEvents verifies that, if two events have the same checkpoint ID, a request
// must also specify the ID of the event.
func TestCheckpointOfTwoEvents(t *testing.T) {
	s := garden()
	s.lines = s.lines[:len(s.lines)-1]
	s.add("e14", "session.message_appended", 11, members{"checkpoint_id": "cp_1"})
	s.add("e15", "task.completed", 12, members{})
	log := readLog(t, s.bytes())
	_, err := replay.NewPlan(context.Background(), log, parse(t, `{"mode":"from_checkpoint","checkpoint_id":"cp_1"}`), nil)
	var refused *replay.RequestError
	if !errors.As(err, &refused) || refused.Param != "checkpoint_event_id" || !strings.Contains(err.Error(), `"e12" and "e14"`) {
		t.Error(err)
	}
	for id, first := range map[string]string{"e12": "e12", "e14": "e14"} {
		told := ""
		for _, line := range events(t, plan(t, log, `{"mode":"from_checkpoint","checkpoint_id":"cp_1","checkpoint_event_id":"`+id+`"}`), replay.Run{TaskID: "task_2"}) {
			if root := document(t, line).Root(); told == "" && root.Member("event").String() == "session.message_appended" {
				told = root.Member("id").String()
			}
		}
		if told != first {
			t.Errorf("from %s the first note is %s", id, told)
		}
	}
}

// TestSnapshot verifies that the snapshot of a compacted session can be replaced by specifying its
// event.
func TestSnapshot(t *testing.T) {
	p := plan(t, readLog(t, garden().bytes()), with("host:snapshot:1", `{"kind":"checkpoint_value","event_id":"e10","value":{"turns":[]}}`))
	a, err := p.Take(context.Background(), "snap_1")
	if err != nil || string(a.Value) != `{"turns":[]}` || a.Override != "host:snapshot:1" {
		t.Errorf("%s, %v", a.Value, err)
	}
	d := recorded(t, events(t, p, replay.Run{TaskID: "task_2"}))
	m := d.ReplayInput.Materials[5]
	if m.ID != "snap_1" || m.SHA256 != a.SHA256 || m.Metadata["override_key"] != "host:snapshot:1" || d.Deltas[0].Path != "/replay_input/materials/snap_1" || deltas(d.Deltas) != deltas(p.Deltas()) {
		t.Errorf("%+v\n%s", m, deltas(d.Deltas))
	}
	if rep, _ := check(t, p, sealed(t, d)); rep.Verdict != receipt.Verified {
		t.Error(findings(rep))
	}
}

// TestSecretsAreNotTold verifies that no output, event, or recording contains the value or the
// digest of a secret, whether the secret is selected by key or by kind.
func TestSecretsAreNotTold(t *testing.T) {
	const secret = "hunter2-hunter2"
	digest := canon.Sum([]byte(`"` + secret + `"`)).String()[len("sha256:"):]
	request := parse(t, `{"mode":"with_overrides","override":{"secret:k":{"kind":"secret_value","value":"`+secret+`"},"mcp:forge:c2":{"kind":"secret_value","value":"`+secret+`"}}}`)
	p, err := replay.NewPlan(context.Background(), readLog(t, garden().bytes()), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := events(t, p, replay.Run{TaskID: "task_2"})
	all := string(bytes.Join(lines, nil)) + deltas(p.Deltas()) + fmt.Sprintf("%v %+v %#v", request.Overrides, *request, request.Overrides)
	d := sealed(t, recorded(t, lines))
	all += string(d.Source())
	if strings.Contains(all, secret) || strings.Contains(all, digest) {
		t.Error("a secret is reported")
	}
	if _, err := replay.ParseRequest([]byte(with("secret:k", `{"kind":"secret_value","value":"`+secret+`","visibility":"public"}`))); err == nil || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
}

// TestReceiptOnly verifies that events contain the digests of receipt_only overrides and the values
// of all other overrides.
func TestReceiptOnly(t *testing.T) {
	lines := string(bytes.Join(events(t, plan(t, readLog(t, garden().bytes()), overrides), replay.Run{TaskID: "task_2"}), nil))
	for value, told := range map[string]bool{`"approved"`: true, `"wet"`: true, `"number":8`: false, `"seed"`: false, `"dry"`: false, `"number":7`: false, `2026-01-01T00:00:02.500Z`: true} {
		if strings.Contains(lines, value) != told {
			t.Errorf("%s reported: %t", value, !told)
		}
	}
}

// TestNothingIsDone verifies that replayed events add no side effects. The receipt must contain the
// answers from the source, but none of its actions.
func TestNothingIsDone(t *testing.T) {
	log := readLog(t, garden().bytes())
	for _, request := range []string{``, overrides, `{"mode":"from_checkpoint","checkpoint_id":"cp_1"}`, `{"mode":"from_checkpoint","checkpoint_event_id":"e12"}`} {
		p := plan(t, log, request)
		kept := recorded(t, events(t, p, replay.Run{TaskID: "task_2"}))
		rep, v := check(t, p, sealed(t, kept))
		if rep.Verdict != receipt.Verified {
			t.Errorf("%s: %+v", request, rep.Checks)
		}
		if !v {
			t.Error("the receipt itself does not verify")
		}
		other := recorded(t, events(t, p, replay.Run{TaskID: "task_3", Remap: true}))
		if diff := replay.Compare(sealed(t, kept), sealed(t, other), replay.Projection); diff != nil {
			t.Errorf("%s: %v", request, diff)
		}
		if diff := replay.Compare(sealed(t, kept), sealed(t, other), replay.Strict); diff == nil {
			t.Error("two tasks have one receipt")
		}
	}
}

// check checks the receipt for a replay, and reports whether the receipt was verified before the
// check.
func check(t testing.TB, p *replay.Plan, doc *canon.Document) (*receipt.Report, bool) {
	t.Helper()
	v, rep := judge(), new(receipt.Report)
	v.Verify(doc, rep)
	verified := rep.Verdict == receipt.Verified
	if err := p.Check(v, rep, doc, nil); err != nil {
		t.Fatal(err)
	}
	return rep, verified
}

// findings returns the codes and pointers of the findings about invalid or missing values.
func findings(rep *receipt.Report) (list []string) {
	for _, c := range rep.Checks {
		if c.Status == receipt.StatusFailed || c.Code == "replay_unavailable" {
			list = append(list, string(c.Code)+" "+c.Pointer)
		}
	}
	return list
}

// TestOneChangeIsOneFinding verifies that changing one place in the receipt, the request, or the
// log leads to exactly one finding.
func TestOneChangeIsOneFinding(t *testing.T) {
	s := garden()
	p := plan(t, readLog(t, s.bytes()), overrides)
	good, err := json.Marshal(recorded(t, events(t, p, replay.Run{TaskID: "task_2"})))
	if err != nil {
		t.Fatal(err)
	}
	const zeros = "sha256:0000000000000000000000000000000000000000000000000000000000000001"
	set := func(at string, value any) func(members) {
		return func(d members) {
			tokens := strings.Split(at, "/")[1:]
			var n any = d
			for _, token := range tokens[:len(tokens)-1] {
				if list, ok := n.([]any); ok {
					n = list[token[0]-'0']
				} else {
					n = n.(members)[token]
				}
			}
			n.(members)[tokens[len(tokens)-1]] = value
		}
	}
	withhold := func(fields ...string) func(members) {
		return func(d members) {
			list := []any{}
			for _, field := range fields {
				set(field, "[redacted]")(d)
				list = append(list, members{"field": field, "reason": "secret"})
			}
			d["redactions"] = list
		}
	}
	call := members{"tool": "t", "call_id": "c", "status": "succeeded"}
	for name, c := range map[string]struct {
		change func(members)
		want   string
	}{
		"nothing":     {func(members) {}, ""},
		"the log":     {set("/replay_input/materials/0/sha256", zeros), "replay_source_mismatch /replay_input/materials/0/sha256"},
		"the source":  {set("/metadata/source_task_id", "task_9"), "replay_source_mismatch /metadata/source_task_id"},
		"the mode":    {set("/metadata/replay_mode", "exact"), "replay_source_mismatch /metadata/replay_mode"},
		"the subject": {set("/subject/object", "task"), "replay_source_mismatch /subject/object"},
		"no digest": {func(d members) {
			delete(d["replay_input"].(members)["materials"].([]any)[0].(members), "sha256")
			d["replay_input"].(members)["materials"].([]any)[0].(members)["metadata"] = members{}
		}, "replay_unavailable /replay_input/materials/0"},
		"a material":      {set("/replay_input/materials/4/sha256", zeros), "material_substituted /replay_input/materials/4/sha256"},
		"a material's id": {set("/replay_input/materials/5/id", "x"), "material_substituted /replay_input/materials/5/id"},
		"a material less": {func(d members) { r := d["replay_input"].(members); r["materials"] = r["materials"].([]any)[:6] }, "material_substituted /replay_input/materials"},
		"a material more": {func(d members) {
			r := d["replay_input"].(members)
			r["materials"] = append(r["materials"].([]any), members{"kind": "host_fact", "id": "h", "metadata": members{}})
		}, "material_substituted /replay_input/materials/7"},
		"a delta's digest": {set("/deltas/3/after_sha256", zeros), "delta_mismatch /deltas/3/after_sha256"},
		"a delta's before": {set("/deltas/3/before_sha256", nil), "delta_mismatch /deltas/3/before_sha256"},
		"a delta's id":     {set("/deltas/3/delta_id", "d"), "delta_mismatch /deltas/3/delta_id"},
		"its operation":    {set("/deltas/3/operation", "add"), "delta_mismatch /deltas/3/operation"},
		"its path":         {set("/deltas/3/path", "/x"), "delta_mismatch /deltas/3/path"},
		"its event":        {set("/deltas/3/event_id", "e1"), "delta_mismatch /deltas/3/event_id"},
		"its key":          {set("/deltas/3/override_key", "llm:main:9"), "delta_mismatch /deltas/3/override_key"},
		"its reason":       {set("/deltas/3/reason", "because"), "delta_mismatch /deltas/3/reason"},
		"a delta less":     {func(d members) { d["deltas"] = d["deltas"].([]any)[1:] }, "delta_missing /deltas"},
		"a delta more": {func(d members) {
			d["deltas"] = append(d["deltas"].([]any), members{"operation": "add", "path": "/x", "override_key": "time:z"})
		}, "delta_unexpected /deltas/6"},
		"the order":         {func(d members) { l := d["deltas"].([]any); l[0], l[1] = l[1], l[0] }, "delta_mismatch /deltas"},
		"a time":            {set("/lifecycle/created_at", "2026-01-01T00:00:00Z"), "replay_differs /lifecycle/created_at"},
		"the end":           {set("/lifecycle/final_state", "CANCELED"), "replay_differs /lifecycle/final_state"},
		"a call":            {set("/side_effects/tool_calls", []any{call}), "replay_effect /side_effects/tool_calls/0"},
		"a cost":            {set("/cost/total", 0.5), "replay_effect /cost/total"},
		"a consumption":     {set("/autonomy_budget/consumed/wall_time_ms", 5), "replay_effect /autonomy_budget/consumed/wall_time_ms"},
		"a reason withheld": {withhold("/deltas/3/reason"), "replay_unavailable /deltas/3/reason"},
		"a key withheld":    {withhold("/deltas/3/override_key"), "replay_unavailable /deltas/3/override_key"},
		"an id withheld":    {withhold("/replay_input/materials/5/id"), "replay_unavailable /replay_input/materials/5/id"},
		"more of that delta": {func(d members) {
			withhold("/deltas/3/event_id")(d)
			set("/deltas/3/after_sha256", zeros)(d)
		}, "delta_mismatch /deltas/3/after_sha256, replay_unavailable /deltas/3/event_id"},
		"more of the same": {func(d members) {
			withhold("/deltas/3/override_key", "/metadata/replay_mode")(d)
			set("/metadata/replay_mode", "with_overrides")(d)
			set("/replay_input/materials/2/sha256", zeros)(d)
		}, "replay_unavailable /deltas/3/override_key, material_substituted /replay_input/materials/2/sha256"},
		"a failed replay": {func(d members) {
			r := d["replay_input"].(members)
			r["determinism"], r["unavailable_reason"] = "unavailable", "gone"
		}, "replay_unavailable /replay_input/unavailable_reason"},
		"a failed one, short": {func(d members) {
			r := d["replay_input"].(members)
			r["determinism"], r["unavailable_reason"], r["materials"] = "unavailable", "gone", r["materials"].([]any)[:3]
			d["deltas"] = d["deltas"].([]any)[:2]
			d["lifecycle"].(members)["final_state"] = "CANCELED"
		}, "replay_unavailable /replay_input/unavailable_reason"},
		"a failed one, false": {func(d members) {
			r := d["replay_input"].(members)
			r["determinism"], r["unavailable_reason"] = "unavailable", "gone"
			d["cost"].(members)["total"] = 0.5
		}, "replay_unavailable /replay_input/unavailable_reason, replay_effect /cost/total"},
	} {
		var d members
		if err := json.Unmarshal(good, &d); err != nil {
			t.Fatal(err)
		}
		c.change(d)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		rep, _ := check(t, p, sealText(t, text))
		if got := strings.Join(findings(rep), ", "); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
		want := receipt.Refuted
		if c.want == "" {
			want = receipt.Verified
		} else if strings.HasPrefix(c.want, "replay_unavailable") && !strings.Contains(c.want, ",") {
			want = receipt.Undecided
		}
		if rep.Verdict != want {
			t.Errorf("%s: %s", name, rep.Verdict)
		}
	}

	// Change one byte of a value, of a stated digest, and of the log.
	receiptOf := sealText(t, good)
	for name, c := range map[string]struct {
		log     []byte
		request string
		want    string
	}{
		"an override":     {s.bytes(), strings.Replace(overrides, `"approved"`, `"approvee"`, 1), "delta_mismatch /deltas/2/after_sha256"},
		"a stated digest": {s.bytes(), strings.Replace(overrides, `"value":{"number":8}`, `"value":{"number":8},"sha256":"`+zeros+`"`, 1), "override_hash_mismatch /deltas/3/after_sha256"},
		"the log":         {bytes.Replace(s.bytes(), []byte("look"), []byte("loom"), 1), overrides, "replay_source_mismatch /replay_input/materials/0/sha256"},
	} {
		rep, _ := check(t, plan(t, readLog(t, c.log), c.request), receiptOf)
		if got := strings.Join(findings(rep), ", "); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestCheckSource verifies that the receipt of the source must state the digest of the same log.
func TestCheckSource(t *testing.T) {
	s := garden()
	source := sealed(t, recorded(t, [][]byte{s.bytes()}))
	hash, err := canon.ParseDigest(source.Root().Member("chain").Member("receipt_hash").Text())
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, readLog(t, s.bytes()), ``)
	doc := sealed(t, recorded(t, events(t, p, replay.Run{TaskID: "task_2", ReceiptHash: hash})))
	issued := recorded(t, [][]byte{s.bytes()})
	issued.ReceiptID = "receipt_x"
	silent := recorded(t, [][]byte{s.bytes()})
	silent.ReplayInput.Materials[0].SHA256 = canon.Digest{}
	unnamed := sealed(t, recorded(t, events(t, p, replay.Run{TaskID: "task_2"})))
	for name, c := range map[string]struct {
		source *canon.Document
		want   string
	}{
		"the source":  {source, ""},
		"no digest":   {sealed(t, silent), "replay_unavailable /metadata/source_task_id"},
		"a new issue": {sealed(t, issued), "replay_source_mismatch /metadata/source_receipt_hash"},
		"another log": {doc, ""},
	} {
		if name == "another log" {
			changed := garden()
			changed.lines[2] = bytes.Replace(changed.lines[2], []byte("look"), []byte("loom"), 1)
			c.source, c.want = sealed(t, recorded(t, [][]byte{changed.bytes()})), "replay_source_mismatch /metadata/source_task_id"
		}
		doc := doc
		if name == "no digest" {
			doc = unnamed
		}
		v, rep := judge(), new(receipt.Report)
		v.Verify(doc, rep)
		if err := p.Check(v, rep, doc, c.source); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(findings(rep), ", "); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestEachMemberOfTheSource verifies that a receipt is not accepted as the source's receipt if any
// member differs.
func TestEachMemberOfTheSource(t *testing.T) {
	s := garden()
	p := plan(t, readLog(t, s.bytes()), ``)
	doc := sealed(t, recorded(t, events(t, p, replay.Run{TaskID: "task_2"})))
	text, err := json.Marshal(recorded(t, [][]byte{s.bytes()}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at    string
		value any
	}{
		{"/identifiers/task_id", "task_9"}, {"/identifiers/session_id", "another"}, {"/identifiers/workspace_ref", "another"}, {"/trust/policy_ref", "another"}, {"/trust/end_tier", "shadow"},
		{"/lifecycle/started_at", "2026-01-01T00:00:03Z"}, {"/lifecycle/final_state", "CANCELED"}, {"/model_route/chosen_model/model", "another"}, {"/cost/total", 9.5},
		{"/side_effects/tool_calls/0/status", "failed"}, {"/final_artifacts/0/artifact_id", "another"}, {"/replay_input/materials/1/sha256", "sha256:" + strings.Repeat("a", 64)},
		{"/replay_input/materials/0/sha256", "sha256:" + strings.Repeat("a", 64)},
	} {
		source, ok := issued(t, nil, text, change{c.at, func(d members) { put(d, c.at, c.value) }})
		if !ok {
			t.Fatalf("%s is no receipt", c.at)
		}
		v, rep := judge(), new(receipt.Report)
		v.Verify(doc, rep)
		if err := p.Check(v, rep, doc, source); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(findings(rep), ", "); !strings.HasPrefix(got, "replay_source_mismatch /metadata/source_task_id") {
			t.Errorf("%s: %s", c.at, got)
		}
	}
}

// TestLogMayNotChange verifies that a log that has changed since it was read is rejected.
func TestLogMayNotChange(t *testing.T) {
	text := garden().bytes()
	p := plan(t, readLog(t, text), ``)
	copy(text[bytes.Index(text, []byte("look")):], "loom")
	if _, err := p.Take(context.Background(), "llm:main:1"); err == nil {
		t.Error("another answer was taken")
	}
	var last error
	for _, err := range p.Events(replay.Run{TaskID: "task_2"}) {
		last = err
	}
	if last == nil {
		t.Error("another log was reported")
	}
}

// TestCompare verifies that the differences between two receipts are listed by pointer.
func TestCompare(t *testing.T) {
	a := document(t, []byte(`{"a":[1,{"b":1e2}],"receipt_id":"x","identifiers":{"task_id":"1","session_id":"s"},"z":null}`))
	for text, want := range map[string]string{
		`{"z":null,"a":[1.0,{"b":100}],"receipt_id":"y","identifiers":{"session_id":"s","task_id":"2"}}`: "",
		`{"a":[1,{"b":2}],"identifiers":{"session_id":"s"},"z":null}`:                                    "/a/1/b 100 2",
		`{"a":[1],"identifiers":{"session_id":"t"},"y":1}`:                                               `/a/1 {"b":100} , /identifiers/session_id "s" "t", /z null , /y  1`,
		`[]`: "",
	} {
		var got []string
		for _, d := range replay.Compare(a, document(t, []byte(text)), replay.Projection) {
			got = append(got, d.Pointer+" "+d.A+" "+d.B)
		}
		if text == `[]` {
			if len(got) != 1 {
				t.Error(got)
			}
			continue
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s\n%s\nwant\n%s", text, strings.Join(got, ", "), want)
		}
	}
}

// BenchmarkReadLog reads a log whose events contain a few KB each, like the outputs of tools.
func BenchmarkReadLog(b *testing.B) {
	s := &source{task: "task_1"}
	s.add("0", "task.started", 1, members{})
	for i := range 4000 {
		s.add(fmt.Sprint("r", i), "tool.completed", 2, members{"tool_call_id": fmt.Sprint("c", i), "name": "read", "output": strings.Repeat("a line of a file\n", 200)})
	}
	s.add("end", "task.completed", 3, members{})
	text := s.bytes()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := replay.ReadLog(bytes.NewReader(text), ""); err != nil {
			b.Fatal(err)
		}
	}
}
