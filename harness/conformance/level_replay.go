package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

func levelReplay() []Probe {
	const post = "POST /v1/tasks/{task_id}/replay"
	return group(Ours, "level-replay",
		probe("replay_exact", replayExact, "an exact replay is a separate task, answered only from recorded answers, and its receipt states no substitution and no side effect", post+"; mode exact"),
		probe("replay_overrides", replayOverrides, "each override is one delta in the receipt, with the digests before and after, and nothing else is replaced", post+"; mode with_overrides; deltas"),
		probe("replay_checkpoint", replayCheckpoint, "a replay from a checkpoint restores the answers recorded before the checkpoint and replays the rest; an unknown checkpoint is refused", post+"; mode from_checkpoint"),
		probe("replays_are_equal", replaysAreEqual, "two replays of one task with the same overrides have the same receipt, except for IDs, times of issue, and positions in a chain", "Replay: determinism"),
		probe("replay_events_are_marked", replayEventsMarked, "replayed events are marked and refer to the source's events that they repeat, in order and with the same payloads", "Replay: events; ReplayEventMetadata"),
		probe("replay_refuses", replayRefuses, "an invalid or contradictory request is refused, 400, and starts no replay", "ReplayTaskRequest"),
		probe("replay_names_what_is_missing", replayNamesMissing, "a replay that cannot be completed names the first resource that is missing", "Replay: failure reporting"),
		probe("replay_once", replayOnce, "one Idempotency-Key starts one replay", post+"; Idempotency"),
		probe("replay_leaves_its_source", replayLeavesSource, "a replay does not change the task that it replays", "Replay: durable event ranges"),
	)
}

func replayExact(ctx context.Context, s *suite) {
	e, from := source(ctx, s)
	request := object{"mode": "exact"}
	r, g := replayed(ctx, s, e, request)
	judge(ctx, s, e, from, encode(request), r, g)
}

func replayOverrides(ctx context.Context, s *suite) {
	e, from := source(ctx, s)
	overrides, keys := swaps(from)
	request := object{"mode": "with_overrides", "override": overrides, "reason": "agents conformance"}
	r, g := replayed(ctx, s, e, request)
	s.note = "overrides of " + strings.Join(keys, ", ")
	judge(ctx, s, e, from, encode(request), r, g)
}

func replayCheckpoint(ctx context.Context, s *suite) {
	e, from := source(ctx, s)
	refuses(ctx, s, e, object{"mode": "from_checkpoint"}, 400)
	refuses(ctx, s, e, object{"mode": "from_checkpoint", "checkpoint_event_id": "conformance_never_" + s.id}, 404, 410, 409)

	list := eventsOfTask(ctx, s, e.id)
	if len(list) == 0 {
		return
	}
	request := object{"mode": "from_checkpoint", "checkpoint_event_id": text(list[len(list)/2], "id")}
	r, g := replayed(ctx, s, e, request)
	judge(ctx, s, e, from, encode(request), r, g)
}

func replaysAreEqual(ctx context.Context, s *suite) {
	e, from := source(ctx, s)
	overrides, _ := swaps(from)
	var docs [2]*given
	for i := range docs {
		_, docs[i] = replayed(ctx, s, e, object{"mode": "with_overrides", "override": overrides})
	}
	if differences := replay.Compare(docs[0].doc, docs[1].doc, replay.Projection); len(differences) > 0 {
		d := differences[0]
		must(docs[1].answer.Fail("expected the receipt of the replay before, found it other at %s: %s, and before %s", wire.Quote(d.Pointer), wire.Quote(d.B), wire.Quote(d.A)).Err)
	}
}

// replayEventsMarked checks the events of a replay. At least one event must be marked as replayed,
// and the marked events must repeat events of the source in the same order. The events
// replay.started and replay.completed must also be present.
func replayEventsMarked(ctx context.Context, s *suite) {
	e, _ := source(ctx, s)
	r, _ := replayed(ctx, s, e, object{})
	list := eventsOfTask(ctx, s, r.id)
	original := eventsOfTask(ctx, s, e.id)
	kinds, again, last := map[string]bool{}, 0, -1
	for i, n := range list {
		kinds[text(n, "event")] = true
		if !n.Member("replayed").Bool() {
			continue
		}
		again++
		var err error
		if last, err = toldAgain(n, original, last, e, r); err != nil {
			fail("GET /v1/tasks/{task_id}/events: item %d: %w", i+1, err)
		}
	}
	switch {
	case again == 0:
		fail("GET /v1/tasks/{task_id}/events: expected events that are marked as replayed, found none")
	case !kinds["replay.started"] || !kinds["replay.completed"]:
		fail("GET /v1/tasks/{task_id}/events: expected replay.started and replay.completed, found one of them or none")
	}
}

// toldAgain expects that an event of an exact replay repeats a source event that follows index
// last, and returns the index of the source event.
func toldAgain(n canon.Node, original []canon.Node, last int, e, r *ended) (at int, err error) {
	of := n.Member("replay")
	if text(of, "source_task_id") != e.id || text(of, "replay_task_id") != r.id {
		return 0, fmt.Errorf("expected the tasks %s and %s in replay, found %s and %s",
			wire.Quote(e.id), wire.Quote(r.id), wire.Quote(text(of, "source_task_id")), wire.Quote(text(of, "replay_task_id")))
	}
	id := cmp.Or(text(of, "original_event_id"), text(n, "id"))
	at = slices.IndexFunc(original, func(o canon.Node) bool { return text(o, "id") == id })
	switch {
	case at < 0:
		return 0, fmt.Errorf("expected an event of the source as replay.original_event_id, found %s", wire.Quote(id))
	case at <= last:
		return 0, fmt.Errorf("expected an event after number %d of the source as replay.original_event_id, found number %d", last+1, at+1)
	case text(original[at], "event") != text(n, "event"):
		return 0, fmt.Errorf("expected the kind %s of the source's event, found %s", wire.Quote(text(original[at], "event")), wire.Quote(text(n, "event")))
	}
	was := strings.ReplaceAll(wire.Canonical(original[at].Member("payload")), e.id, r.id)
	if is := strings.ReplaceAll(wire.Canonical(n.Member("payload")), e.id, r.id); was != is {
		return 0, fmt.Errorf("expected the payload of the source's event %s, found another", wire.Quote(id))
	}
	return at, nil
}

func replayRefuses(ctx context.Context, s *suite) {
	e, from := source(ctx, s)
	overrides, keys := swaps(from)
	one := overrides[keys[0]].(object)
	lies := object{"sha256": canon.Sum([]byte("another")).String()}
	maps.Copy(lies, one)
	for _, body := range []object{
		{"mode": "exact", "override": overrides},
		{"mode": "conformance"},
		{"mode": "with_overrides", "override": object{keys[0]: lies}},
		{"mode": "with_overrides", "override": object{"conformance": one}},
		{"mode": "with_overrides", "override": object{keys[0]: object{"kind": "conformance", "value": 1}}},
	} {
		refuses(ctx, s, e, body, 400)
	}
}

// replayNamesMissing requests replays that cannot succeed. One replay needs an answer that was not
// stored, and is requested only if the script can make a task use such an answer. The other replay
// refers to a nonexistent artifact, and is skipped if no recorded answer can be overridden with an
// artifact.
func replayNamesMissing(ctx context.Context, s *suite) {
	e, from := source(ctx, s)
	if words := s.target.Script.Unstored; words != "" {
		gone := endedTask(ctx, s, words)
		namesMissing(ctx, s, gone, object{"mode": "exact"}, "")
	}
	_, keys := swaps(from)
	if kindOf(keys[0]) == "time" {
		skip("no answer was recorded that an artifact could take the place of")
	}
	absent := "conformance_absent_" + s.id
	body := object{"mode": "with_overrides", "override": object{keys[0]: object{"kind": kindOf(keys[0]), "artifact_id": absent}}}
	namesMissing(ctx, s, e, body, absent)
}

// namesMissing expects that a replay is rejected or fails, and that the answer identifies the
// missing resource by its ID and by one of five kinds.
func namesMissing(ctx context.Context, s *suite, e *ended, body object, id string) {
	a := s.post(ctx, "", body, "v1/tasks/%s/replay", e.id).Status(202, 404, 409, 410)
	details := a.Root().Member("error").Member("details")
	if a.Is(202) {
		r := end(ctx, s, text(a.Root(), "id"))
		if a = r.task; r.status != failed {
			must(a.Fail("expected a replay that lacks something to be FAILED, found it %s", r.status).Err)
		}
		details = a.Root().Member("failure").Member("details")
	} else {
		expect(a.Members("error"))
	}
	what := details.Member("first_unavailable")
	switch object := text(what, "object"); {
	case !slices.Contains([]string{"event", "artifact", "memory", "receipt", "host_dependency"}, object):
		a.Fail("expected the missing object in details.first_unavailable, found %s", wire.Quote(object))
	case id != "" && text(what, "id") != id:
		a.Fail("expected %s as the missing object, found %s", wire.Quote(id), wire.Quote(text(what, "id")))
	case text(what, "id") == "":
		a.Fail("expected the id of the missing object, found none")
	}
	must(a.Err)
}

func replayOnce(ctx context.Context, s *suite) {
	e, _ := source(ctx, s)
	key := "ours-" + s.id + "-replay"
	send := func(body string) *wire.Answer {
		return s.client.Do(ctx, wire.Request{Method: "POST", Path: path("v1/tasks/%s/replay", e.id), Once: key, Body: []byte(body)})
	}
	first := send(`{"mode":"exact","reason":"once"}`).Status(202).Object("task").Has("id")
	again := send(` {"reason":"once", "mode":"exact"}`).Status(200, 202).Object("task").Has("id")
	must(errors.Join(first.Err, again.Err))
	if one, two := text(first.Root(), "id"), text(again.Root(), "id"); one != two {
		must(again.Fail("expected the replay %s again, found %s", wire.Quote(one), wire.Quote(two)).Err)
	}
	expect(send(`{"mode":"exact","reason":"another"}`).Status(409).Error(protocol.CodeKeyReused))
}

func replayLeavesSource(ctx context.Context, s *suite) {
	e, _ := source(ctx, s)
	before := eventsOfTask(ctx, s, e.id)
	replayed(ctx, s, e, object{})
	after := eventsOfTask(ctx, s, e.id)
	if differs := sameIDs(ids(before), ids(after)); differs != "" {
		fail("GET /v1/tasks/{task_id}/events: after a replay: %s", differs)
	}
	now := expect(s.get(ctx, "v1/tasks/%s", e.id).Status(200).Object("task"))
	if !sameEnd(e.task.Root(), now.Root()) {
		must(now.Fail("expected the task as it was before its replay, found it changed").Err)
	}
}
