package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
)

// sameEnd reports whether a task is as it ended. Only a receipt may be issued later.
func sameEnd(ended, now canon.Node) bool {
	for _, name := range []string{"status", "session_id", "workspace_id", "input", "created_by", "started_at", "completed_at", "canceled_at", "failure", "outcome_id", "receipt_id"} {
		was, is := ended.Member(name), now.Member(name)
		same := isNull(was) && isNull(is) || !isNull(was) && !isNull(is) && wire.Canonical(was) == wire.Canonical(is)
		if !same && (name != "receipt_id" || !isNull(was)) {
			return false
		}
	}
	return true
}

// endedTaskStays sends requests that would change a task if it had not ended, and expects no
// change.
func endedTaskStays(ctx context.Context, s *suite) {
	e := plainTask(ctx, s)
	for _, move := range []struct {
		path string
		body object
	}{
		{"v1/tasks/%s/cancel", object{"reason": "agents conformance"}},
		{"v1/tasks/%s/messages", object{"kind": "input", "message": message("too late")}},
		{"v1/tasks/%s/messages", object{"kind": "interrupt", "message": message("too late")}},
	} {
		a := s.post(ctx, "", move.body, move.path, e.id)
		if a.Err == nil && a.Code >= 500 && a.Code != 501 {
			a.Status(409)
		}
		must(a.Err)
		now := expect(s.get(ctx, "v1/tasks/%s", e.id).Status(200).Object("task"))
		if !sameEnd(e.task.Root(), now.Root()) {
			must(now.Fail("after %s: expected the task as it ended, %s, found it changed, %s", a.Request, e.status, wire.Quote(text(now.Root(), "status"))).Err)
		}
	}

	must(statesOf(eventsOfTask(ctx, s, e.id), e.status))
}

// canceledTaskIs checks a task that was canceled before it ended.
func canceledTaskIs(ctx context.Context, s *suite) {
	e := canceledTask(ctx, s)
	task := e.task.Root()
	if at := task.Member("completed_at"); !isNull(at) {
		must(e.task.Fail("expected no completed_at of a task that is CANCELED, found %s", wire.Quote(at.String())).Err)
	}
	if at := text(task, "canceled_at"); !wire.IsTime(at) {
		must(e.task.Fail("expected a time (RFC 3339, UTC) as canceled_at, found %s", wire.Quote(at)).Err)
	}
	again := cancel(ctx, s, e.id, "")
	if again.Is(200) {
		again.Equal("status", canceled)
	}
	must(again.Err)
	if now := s.get(ctx, "v1/tasks/%s", e.id).Status(200).Object("task"); now.Err != nil || !sameEnd(task, now.Root()) {
		must(now.Fail("expected the task as it was canceled first, found it changed").Err)
	}
	outcomeOf(ctx, s, e)
	must(statesOf(eventsOfTask(ctx, s, e.id), canceled))
}

func outcomeAgrees(ctx context.Context, s *suite) {
	e := plainTask(ctx, s)
	if e.status == completed && !wire.IsTime(text(e.task.Root(), "completed_at")) {
		must(e.task.Fail("expected a time (RFC 3339, UTC) as completed_at of a task that is COMPLETED, found %s", wire.Quote(text(e.task.Root(), "completed_at"))).Err)
	}
	outcomeOf(ctx, s, e)
}

// outcomeStatus returns the status of the outcome that corresponds to the final state of a task.
func outcomeStatus(status string) string {
	if status == completed {
		return "SUCCEEDED"
	}
	return status
}

// outcomeOf expects that a task has exactly one outcome, which agrees with the task.
func outcomeOf(ctx context.Context, s *suite, e *ended) {
	list := items(ctx, s, path("v1/outcomes?task_id=%s", e.id), 200)
	if len(list) != 1 {
		fail("GET /v1/outcomes?task_id={task_id}: expected one outcome of a task that is %s, found %d", e.status, len(list))
	}
	id := text(list[0], "id")
	if told := e.task.Root().Member("outcome_id"); !isNull(told) && told.String() != id {
		must(e.task.Fail("expected the outcome_id %s, found %s", wire.Quote(id), wire.Quote(told.String())).Err)
	}
	expect(s.get(ctx, "v1/outcomes/%s", id).Status(200).Object("outcome").Equal("task_id", e.id).Equal("status", outcomeStatus(e.status)))
}

// eventSequences checks the sequence numbers of the events in the lists of a task and of its
// session.
func eventSequences(ctx context.Context, s *suite) {
	e := plainTask(ctx, s)
	for _, at := range []string{path("v1/tasks/%s/events", e.id), path("v1/sessions/%s/events", e.session)} {
		if err := sequencesOf(eventsOf(ctx, s, at, 200), e); err != nil {
			fail("GET /%s: %w", at, err)
		}
	}
}

// sequencesOf expects that the events of the task are numbered without gaps. Events of other
// resources may be missing from the list, so the numbers of these events only have to increase.
func sequencesOf(list []canon.Node, e *ended) error {
	last, seen := map[string]uint64{}, map[string]bool{}
	for i, n := range list {
		id, of := text(n, "id"), n.Member("resource")
		if seen[id] {
			return fmt.Errorf("item %d: expected an id of its own, found %s again", i+1, wire.Quote(id))
		}
		seen[id] = true

		number, err := wire.Natural(n, "sequence")
		if err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
		key := text(of, "object") + " " + text(of, "id")
		before, known := last[key]
		last[key] = number
		switch {
		case !known:
		case text(of, "id") == e.id && number != before+1:
			return fmt.Errorf("item %d: expected the sequence %d of the task, found %d", i+1, before+1, number)
		case number <= before:
			return fmt.Errorf("item %d: expected a sequence beyond %d of its resource, found %d", i+1, before, number)
		}
	}
	return nil
}

// eventsTellStates follows the states of a task through its events, and expects that each
// transition is allowed.
func eventsTellStates(ctx context.Context, s *suite) {
	e := plainTask(ctx, s)
	err := caught(func() { must(statesOf(eventsOfTask(ctx, s, e.id), e.status)) })
	if err != nil {
		fail("GET /v1/tasks/{task_id}/events: %w", err)
	}
}

// stateOf returns the state into which an event moves its task, or "" for none.
func stateOf(n canon.Node) string {
	switch kind := text(n, "event"); kind {
	case "task.submitted":
		return submitted
	case "task.started":
		return working
	case "task.input_required":
		return input
	case "task.auth_required":
		return auth
	case "task.completed":
		return completed
	case "task.failed":
		return failed
	case "task.canceled":
		return canceled
	case "task.status_changed":
		if state := text(n.Member("payload"), "status"); next(state) != nil {
			return state
		}
	}
	return ""
}

// statesOf follows the events of a task until its end. It ignores events that are replayed from
// another task.
func statesOf(list []canon.Node, status string) error {
	const changed = "task.status_changed"
	state, alone := "", false // alone: a state reported only by task.status_changed so far, which may precede the more specific event
	for i, n := range list {
		if n.Member("replayed").Bool() {
			continue
		}
		told := stateOf(n)
		accompanies := told != "" && told == state && (text(n, "event") == changed || alone)
		if told != "" {
			alone = text(n, "event") == changed && (alone || told != state)
		}
		switch {
		case isTerminal(state) && strings.HasPrefix(text(n, "event"), "task.") && !accompanies:
			return fmt.Errorf("item %d: expected no event of a task after its end, found %s", i+1, wire.Quote(text(n, "event")))
		case told == "" || accompanies:
			continue
		case state == "" && told != submitted:
			return fmt.Errorf("item %d: expected task.submitted as the first state, found %s", i+1, wire.Quote(text(n, "event")))
		case state != "" && !slices.Contains(next(state), told):
			return fmt.Errorf("item %d: expected a state that may follow %s, found %s", i+1, state, told)
		}
		state = told
	}
	if state != status {
		return fmt.Errorf("expected events that end in %s, as the task does, found %s", status, wire.Quote(state))
	}
	return nil
}
