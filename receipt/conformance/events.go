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
)

// eventForm looks at each event of a task, and reads the first and the last one by one.
func eventForm(ctx context.Context, s *suite) error {
	e, err := plainTask(ctx, s)
	if err != nil {
		return err
	}
	list, err := eventsOfTask(ctx, s, e.id)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("GET /v1/tasks/{task_id}/events: expected events of a task that has ended, found none")
	}
	for i, n := range list {
		if err := checkEvent(n, e.id); err != nil {
			return fmt.Errorf("GET /v1/tasks/{task_id}/events: item %d: %w", i+1, err)
		}
	}
	for _, n := range []canon.Node{list[0], list[len(list)-1]} {
		a := s.get(ctx, "v1/events/%s", text(n, "id")).Status(200).Object("event")
		if a.Err == nil && wire.Canonical(a.Root()) != wire.Canonical(n) {
			a.Fail("expected the event as it is listed, found another")
		}
		if a.Err != nil {
			return a.Err
		}
	}
	return nil
}

// checkEvent says what an event of a task lacks.
func checkEvent(n canon.Node, task string) error {
	of := n.Member("resource")
	switch {
	case text(n, "object") != "event":
		return fmt.Errorf("expected the object \"event\", found %s", wire.Quote(text(n, "object")))
	case text(n, "id") == "" || text(n, "event") == "":
		return errors.New("expected texts as id and event, found one empty or none")
	case text(of, "object") == "" || text(of, "id") == "":
		return errors.New("expected a resource with texts as object and id, found none")
	case n.Member("payload").Kind() != canon.KindObject:
		return fmt.Errorf("expected an object as payload, found %s", wire.KindName(n.Member("payload").Kind()))
	case text(n, "task_id") != task && text(of, "id") != task:
		return fmt.Errorf("expected an event of the task that was asked for, found one of %s", wire.Quote(text(n, "task_id")))
	}
	if _, err := receipt.ParseTime(text(n, "created_at")); err != nil {
		return fmt.Errorf("expected a time (RFC 3339, UTC) as created_at, found %s", wire.Quote(text(n, "created_at")))
	}
	_, err := wire.Natural(n, "sequence")
	return err
}

// eventSequences looks at the numbers of the events of a task, and of its session.
func eventSequences(ctx context.Context, s *suite) error {
	e, err := plainTask(ctx, s)
	if err != nil {
		return err
	}
	for _, at := range []string{path("v1/tasks/%s/events", e.id), path("v1/sessions/%s/events", e.session)} {
		list, err := eventsOf(ctx, s, at, 200)
		if err != nil {
			return err
		}
		if err := sequencesOf(list, e); err != nil {
			return fmt.Errorf("GET /%s: %w", at, err)
		}
	}
	return nil
}

// sequencesOf expects the events of the task to be numbered without a gap. Of other
// resources some may be in other lists: their numbers grow.
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

// eventsTellStates follows a task by its events.
func eventsTellStates(ctx context.Context, s *suite) error {
	e, err := plainTask(ctx, s)
	if err != nil {
		return err
	}
	list, err := eventsOfTask(ctx, s, e.id)
	if err == nil {
		err = statesOf(list, e.status)
	}
	if err != nil {
		return fmt.Errorf("GET /v1/tasks/{task_id}/events: %w", err)
	}
	return nil
}

// stateOf is the state that an event moves its task to, "" for none.
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

// statesOf follows the events of a task to its end. What is told again of another task is no
// deed of this one.
func statesOf(list []canon.Node, status string) error {
	const changed = "task.status_changed"
	state, alone := "", false // told by task.status_changed alone, which may come before the kind for it
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
			return fmt.Errorf("item %d: expected no event of a task behind its end, found %s", i+1, wire.Quote(text(n, "event")))
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
