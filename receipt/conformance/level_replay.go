package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

func levelReplay() []Probe {
	const post = "POST /v1/tasks/{task_id}/replay"
	return group(Ours, "level-replay",
		probe("replay_exact", replayExact, "an exact replay is a task of its own, answered by what was recorded alone, and its receipt says that nothing was swapped or done", post+"; mode exact"),
		probe("replay_overrides", replayOverrides, "each override is one delta of the receipt, with the digests before and after, and nothing else is swapped", post+"; mode with_overrides; deltas"),
		probe("replay_checkpoint", replayCheckpoint, "a replay from a checkpoint restores what lies before it, and tells the rest again; one that is unknown is refused", post+"; mode from_checkpoint"),
		probe("replays_are_equal", replaysAreEqual, "two replays of one task with the same overrides have the same receipt, but for names, times of issue and places in a chain", "Replay: determinism"),
		probe("replay_events_are_marked", replayEventsMarked, "events that are told again are marked as replayed, and name their source", "Replay: events; ReplayEventMetadata"),
		probe("replay_refuses", replayRefuses, "a request that says something false or impossible is refused, 400, and begins no replay", "ReplayTaskRequest"),
		probe("replay_names_what_is_missing", replayNamesMissing, "a replay that lacks something names the first thing that it lacks", "Replay: failure reporting"),
		probe("replay_once", replayOnce, "one Idempotency-Key begins one replay", post+"; Idempotency"),
		probe("replay_leaves_its_source", replayLeavesSource, "a replay changes nothing of the task that it replays", "Replay: durable event ranges"),
	)
}

// source is the task that is replayed, with its receipt and its log.
func source(ctx context.Context, s *suite) (*ended, *given, error) {
	if err := able(ctx, s, "replay"); err != nil {
		return nil, nil, err
	}
	return plainReceipt(ctx, s)
}

// replayed asks for a replay, and waits until it has ended.
func replayed(ctx context.Context, s *suite, e *ended, body any) (*ended, *given, error) {
	a := s.post(ctx, "", body, "v1/tasks/%s/replay", e.id).Status(202).Equal("parent_task_id", e.id)
	if _, err := statusOfTask(a.Has("id")); err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"session_id", "workspace_id"} {
		a.Equal(name, text(e.task.Root(), name))
	}
	if id := text(a.Root(), "id"); a.Err == nil && id == e.id {
		a.Fail("expected a task of its own, found the source")
	}
	if a.Err != nil {
		return nil, nil, a.Err
	}
	r, err := end(ctx, s, text(a.Root(), "id"))
	if err != nil {
		return nil, nil, err
	}
	g, err := receiptOf(ctx, s, r)
	return r, g, err
}

// judge judges the receipt of a replay that came to its end: by what the source's receipt
// says, and by the plan that the source's log and the request give.
func judge(ctx context.Context, s *suite, e *ended, from *given, request []byte, r *ended, g *given) error {
	if r.status != e.status {
		return r.task.Fail("expected the replay to end as its source did, %s, found it %s", e.status, r.status).Err
	}
	if err := errors.Join(isReplay(g, e, r), g.verified()); err != nil {
		return err
	}
	asked, err := replay.ParseRequest(request)
	if err != nil {
		return fmt.Errorf("conformance: a request of ours: %w", err)
	}
	if err := sameMaterials(from, g, asked); err != nil {
		return err
	}
	log, err := logOf(ctx, s, e.id)
	if err != nil {
		return err
	}
	plan, err := replay.NewPlan(ctx, log, asked, nil)
	if err != nil {
		return fmt.Errorf("the events of the task %s give no plan of a replay: %w", wire.Quote(e.id), err)
	}
	return sameAsPlan(s, plan, from, g)
}

// isReplay expects a receipt to be of a replay: with its own task, and without deeds.
func isReplay(g *given, e, r *ended) error {
	root := g.doc.Root()
	subject := root.Member("subject")
	switch {
	case text(subject, "object") != "replay_segment" || text(subject, "id") != r.id:
		g.answer.Fail("expected the subject replay_segment %s, found %s %s", wire.Quote(r.id), wire.Quote(text(subject, "object")), wire.Quote(text(subject, "id")))
	case text(root.Member("metadata"), "source_task_id") != "" && text(root.Member("metadata"), "source_task_id") != e.id:
		g.answer.Fail("expected the task %s as metadata.source_task_id, found %s", wire.Quote(e.id), wire.Quote(text(root.Member("metadata"), "source_task_id")))
	}
	for name, list := range root.Member("side_effects").Members() {
		if g.answer.Err == nil && list.Len() > 0 {
			g.answer.Fail("expected no %s of a replay, found %d", wire.Quote(name.String()), list.Len())
		}
	}
	if total := root.Member("cost").Member("total"); g.answer.Err == nil && total.Float() != 0 {
		g.answer.Fail("expected a replay that cost nothing, found %s", wire.Quote(string(total.Raw())))
	}
	return g.answer.Err
}

// sameMaterials expects the answers of the source but for those that the request swaps, and
// a delta for each of these and for no other.
func sameMaterials(from, g *given, asked *replay.Request) error {
	recorded, log := materials(from.doc)
	used, logUsed := materials(g.doc)
	if want, got := text(log, "sha256"), text(logUsed, "sha256"); want != got {
		return g.answer.Fail("expected the log of the source, %s, as event_log, found %s", want, wire.Quote(got)).Err
	}
	var keys []string
	for i := range asked.Overrides {
		o := &asked.Overrides[i]
		keys = append(keys, o.Key)
		digest, _ := o.Digest()
		if m, listed := used[o.Key]; listed && text(m, "sha256") != digest.String() {
			return g.answer.Fail("expected the material %s with the digest of its override, %s, found %s", wire.Quote(o.Key), digest, wire.Quote(text(m, "sha256"))).Err
		}
	}
	for id, m := range used {
		if was, known := recorded[id]; !slices.Contains(keys, id) && (!known || text(was, "sha256") != text(m, "sha256")) {
			return g.answer.Fail("expected the material %s as it was recorded, %s, found %s: nothing may be refreshed", wire.Quote(id), wire.Quote(text(was, "sha256")), wire.Quote(text(m, "sha256"))).Err
		}
	}

	var swapped []string
	for _, d := range g.doc.Root().Member("deltas").Elements() {
		swapped = append(swapped, text(d, "override_key"))
	}
	if slices.Sort(swapped); !slices.Equal(swapped, keys) {
		return g.answer.Fail("expected a delta for each override, %d, found %d for %s", len(keys), len(swapped), wire.Quote(strings.Join(swapped, ", "))).Err
	}
	return nil
}

// sameAsPlan expects what the plan of the replay gives, and nothing else.
func sameAsPlan(s *suite, plan *replay.Plan, from, g *given) error {
	report := g.report.Clone()
	if err := plan.Check(s.judge, report, g.doc); err != nil {
		return fmt.Errorf("the log of the replay's source cannot be read again: %w", err)
	}
	if err := plan.CheckSource(s.judge, report, g.doc, from.doc); err != nil {
		return fmt.Errorf("the log of the replay's source cannot be read again: %w", err)
	}
	if report.Verdict != receipt.Verified {
		found := report.Finding()
		return g.answer.Fail("expected the receipt that the source's log and the request give, found it %s: %s at %s", report.Verdict, found.Code, wire.Quote(found.Pointer)).Err
	}
	return nil
}

func replayExact(ctx context.Context, s *suite) error {
	e, from, err := source(ctx, s)
	if err != nil {
		return err
	}
	request := object{"mode": "exact"}
	r, g, err := replayed(ctx, s, e, request)
	if err != nil {
		return err
	}
	return judge(ctx, s, e, from, encode(request), r, g)
}

// swaps are overrides of what was recorded: the time at which the task was started, and an
// answer. keys are theirs.
func swaps(from *given) (overrides object, keys []string) {
	end := text(from.doc.Root().Member("lifecycle"), "completed_at")
	overrides = object{"time:started_at": object{"kind": "time", "value": end, "visibility": "internal", "reason": "agents conformance"}}
	recorded, _ := materials(from.doc)
	key := ""
	for id := range recorded {
		if before(id, key) {
			key = id
		}
	}
	switch prefix, _, _ := strings.Cut(key, ":"); prefix {
	case "llm":
		overrides[key] = object{"kind": "llm_provider_response", "value": object{"choices": []object{{"message": object{"role": "assistant", "content": "agents conformance"}}}}}
	case "host":
		overrides[key] = object{"kind": "tool_result", "value": object{"agents": "conformance"}, "visibility": "public"}
	case "mcp":
		overrides[key] = object{"kind": "mcp_tool_return", "value": object{"agents": "conformance"}, "visibility": "public"}
	}
	for key := range overrides {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return overrides, keys
}

// before says which of two answers rather to swap: one that a tool gave, since the course of
// a task hangs on it least; else the last one of a model.
func before(a, b string) bool {
	rank := func(id string) int {
		switch {
		case strings.HasPrefix(id, "host:memory:"):
			return 0
		case strings.HasPrefix(id, "host:"), strings.HasPrefix(id, "mcp:"):
			return 2
		case strings.HasPrefix(id, "llm:"):
			return 1
		}
		return 0
	}
	if rank(a) != rank(b) {
		return rank(a) > rank(b)
	}
	return rank(a) > 0 && a > b
}

func replayOverrides(ctx context.Context, s *suite) error {
	e, from, err := source(ctx, s)
	if err != nil {
		return err
	}
	overrides, keys := swaps(from)
	request := object{"mode": "with_overrides", "override": overrides, "reason": "agents conformance"}
	r, g, err := replayed(ctx, s, e, request)
	if err != nil {
		return err
	}
	s.note = "overrides of " + strings.Join(keys, ", ")
	return judge(ctx, s, e, from, encode(request), r, g)
}

func replayCheckpoint(ctx context.Context, s *suite) error {
	e, from, err := source(ctx, s)
	if err != nil {
		return err
	}
	if err := refuses(ctx, s, e, object{"mode": "from_checkpoint"}, 400); err != nil {
		return err
	}
	if err := refuses(ctx, s, e, object{"mode": "from_checkpoint", "checkpoint_event_id": "conformance_never_" + s.id}, 404, 410, 409); err != nil {
		return err
	}

	list, err := eventsOfTask(ctx, s, e.id)
	if err != nil || len(list) == 0 {
		return err
	}
	request := object{"mode": "from_checkpoint", "checkpoint_event_id": text(list[len(list)/2], "id")}
	r, g, err := replayed(ctx, s, e, request)
	if err != nil {
		return err
	}
	return judge(ctx, s, e, from, encode(request), r, g)
}

func replaysAreEqual(ctx context.Context, s *suite) error {
	e, from, err := source(ctx, s)
	if err != nil {
		return err
	}
	overrides, _ := swaps(from)
	var docs [2]*given
	for i := range docs {
		if _, docs[i], err = replayed(ctx, s, e, object{"mode": "with_overrides", "override": overrides}); err != nil {
			return err
		}
	}
	if differences := replay.Compare(docs[0].doc, docs[1].doc, replay.Projection); len(differences) > 0 {
		d := differences[0]
		return docs[1].answer.Fail("expected the receipt of the replay before, found it other at %s: %s, and before %s", wire.Quote(d.Pointer), wire.Quote(d.B), wire.Quote(d.A)).Err
	}
	return nil
}

// replayEventsMarked looks at the events of a replay: each of the source is told again as
// such, but what belongs to its receipt.
func replayEventsMarked(ctx context.Context, s *suite) error {
	e, _, err := source(ctx, s)
	if err != nil {
		return err
	}
	r, _, err := replayed(ctx, s, e, object{})
	if err != nil {
		return err
	}
	list, err := eventsOfTask(ctx, s, r.id)
	if err != nil {
		return err
	}
	kinds, again := map[string]bool{}, 0
	for i, n := range list {
		kinds[text(n, "event")] = true
		if !n.Member("replayed").Bool() {
			continue
		}
		again++
		of := n.Member("replay")
		if text(of, "source_task_id") != e.id || text(of, "replay_task_id") != r.id {
			return fmt.Errorf("GET /v1/tasks/{task_id}/events: item %d: expected the tasks %s and %s in replay, found %s and %s", i+1,
				wire.Quote(e.id), wire.Quote(r.id), wire.Quote(text(of, "source_task_id")), wire.Quote(text(of, "replay_task_id")))
		}
	}
	switch {
	case again == 0:
		return errors.New("GET /v1/tasks/{task_id}/events: expected events that are marked as replayed, found none")
	case !kinds["replay.started"] || !kinds["replay.completed"]:
		return errors.New("GET /v1/tasks/{task_id}/events: expected replay.started and replay.completed, found one of them or none")
	}
	return nil
}

// refuses expects a request for a replay to be refused.
func refuses(ctx context.Context, s *suite, e *ended, body any, statuses ...int) error {
	a := s.post(ctx, "", body, "v1/tasks/%s/replay", e.id).Status(statuses...)
	if err := wellFormed(a); err != nil {
		return fmt.Errorf("with %s: %w", encode(body), err)
	}
	if slices.Equal(statuses, []int{400}) {
		a.Error(protocol.CodeInvalid)
	}
	return a.Err
}

func replayRefuses(ctx context.Context, s *suite) error {
	e, from, err := source(ctx, s)
	if err != nil {
		return err
	}
	overrides, keys := swaps(from)
	one := overrides[keys[0]].(object)
	lies := object{"sha256": canon.Sum([]byte("another")).String()}
	for name, value := range one {
		lies[name] = value
	}
	for _, body := range []object{
		{"mode": "exact", "override": overrides},
		{"mode": "conformance"},
		{"mode": "with_overrides", "override": object{keys[0]: lies}},
		{"mode": "with_overrides", "override": object{"conformance": one}},
		{"mode": "with_overrides", "override": object{keys[0]: object{"kind": "conformance", "value": 1}}},
	} {
		if err := refuses(ctx, s, e, body, 400); err != nil {
			return err
		}
	}
	return nil
}

// replayNamesMissing asks for what nobody has: an answer that the task did not keep, where
// there are words for such a task, and an artifact that never was.
func replayNamesMissing(ctx context.Context, s *suite) error {
	e, from, err := source(ctx, s)
	if err != nil {
		return err
	}
	if words := s.target.Script.Unstored; words != "" {
		gone, err := endedTask(ctx, s, words)
		if err != nil {
			return err
		}
		if err := namesMissing(ctx, s, gone, object{"mode": "exact"}, ""); err != nil {
			return err
		}
	}
	_, keys := swaps(from)
	if kindOf(keys[0]) == "time" {
		return skipped("no answer was recorded that an artifact could take the place of")
	}
	absent := "conformance_absent_" + s.id
	body := object{"mode": "with_overrides", "override": object{keys[0]: object{"kind": kindOf(keys[0]), "artifact_id": absent}}}
	return namesMissing(ctx, s, e, body, absent)
}

func kindOf(key string) string {
	switch prefix, _, _ := strings.Cut(key, ":"); prefix {
	case "llm":
		return "llm_provider_response"
	case "mcp":
		return "mcp_tool_return"
	case "time":
		return "time"
	}
	return "tool_result"
}

// namesMissing expects a replay to be refused, or to fail, and to name what is missing: one
// of the five things that can be.
func namesMissing(ctx context.Context, s *suite, e *ended, body object, id string) error {
	a := s.post(ctx, "", body, "v1/tasks/%s/replay", e.id).Status(202, 404, 409, 410)
	details := a.Root().Member("error").Member("details")
	if a.Is(202) {
		r, err := end(ctx, s, text(a.Root(), "id"))
		if err != nil {
			return err
		}
		if a = r.task; r.status != failed {
			return a.Fail("expected a replay that lacks something to be FAILED, found it %s", r.status).Err
		}
		details = a.Root().Member("failure").Member("details")
	} else if wellFormed(a) != nil {
		return a.Err
	}
	what := details.Member("first_unavailable")
	switch object := text(what, "object"); {
	case !slices.Contains([]string{"event", "artifact", "memory", "receipt", "host_dependency"}, object):
		a.Fail("expected what is missing as details.first_unavailable, found %s", wire.Quote(object))
	case id != "" && text(what, "id") != id:
		a.Fail("expected %s as what is missing, found %s", wire.Quote(id), wire.Quote(text(what, "id")))
	case text(what, "id") == "":
		a.Fail("expected the id of what is missing, found none")
	}
	return a.Err
}

func replayOnce(ctx context.Context, s *suite) error {
	e, _, err := source(ctx, s)
	if err != nil {
		return err
	}
	key := "ours-" + s.id + "-replay"
	send := func(body string) *wire.Answer {
		return s.client.Do(ctx, wire.Request{Method: "POST", Path: path("v1/tasks/%s/replay", e.id), Once: key, Body: []byte(body)})
	}
	first := send(`{"mode":"exact","reason":"once"}`).Status(202).Object("task").Has("id")
	again := send(` {"reason":"once", "mode":"exact"}`).Status(202).Object("task").Has("id")
	if err := errors.Join(first.Err, again.Err); err != nil {
		return err
	}
	if one, two := text(first.Root(), "id"), text(again.Root(), "id"); one != two {
		return again.Fail("expected the replay %s again, found %s", wire.Quote(one), wire.Quote(two)).Err
	}
	return wellFormed(send(`{"mode":"exact","reason":"another"}`).Status(409).Error(protocol.CodeKeyReused))
}

func replayLeavesSource(ctx context.Context, s *suite) error {
	e, _, err := source(ctx, s)
	if err != nil {
		return err
	}
	before, err := eventsOfTask(ctx, s, e.id)
	if err != nil {
		return err
	}
	if _, _, err := replayed(ctx, s, e, object{}); err != nil {
		return err
	}
	after, err := eventsOfTask(ctx, s, e.id)
	if err != nil {
		return err
	}
	if differs := sameIDs(ids(before), ids(after)); differs != "" {
		return fmt.Errorf("GET /v1/tasks/{task_id}/events: after a replay: %s", differs)
	}
	now := s.get(ctx, "v1/tasks/%s", e.id).Status(200).Object("task")
	if now.Err == nil && endOf(now.Root()) != endOf(e.task.Root()) {
		now.Fail("expected the task as it was before its replay, found it changed")
	}
	return now.Err
}
