package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
)

// own contains data about the server that only the additional probes need.
type own struct {
	known     bool
	abilities map[string]bool // capabilities that discovery reports

	ended *ended // a plain task that has ended
	stuck error  // the reason if there is no such task

	resources map[string]string // IDs of one resource of each kind, indexed by the names that routes use
	streams   map[string]bool   // whether the server has a stream, indexed by the path of the stream
	surveyed  bool
}

// able skips the probe unless discovery advertises the given capability.
func able(ctx context.Context, s *suite, capability string) {
	if !s.own.known {
		a := expect(s.client.Do(ctx, wire.Request{Path: "v1", NoKey: true}).Status(200).Members("capabilities"))
		s.own.known, s.own.abilities = true, map[string]bool{}
		for name, value := range a.Root().Member("capabilities").Members() {
			s.own.abilities[name.String()] = value.Bool()
		}
	}
	if !s.own.abilities[capability] {
		skip("discovery does not advertise %s", capability)
	}
}

// newSession creates a separate session for a probe.
func newSession(ctx context.Context, s *suite) string {
	ensureWorkspace(ctx, s)
	a := expect(s.post(ctx, "", object{"workspace_id": s.workspace, "metadata": s.meta()}, "v1/sessions").Status(201, 200).Object("session").Has("id"))
	return text(a.Root(), "id")
}

// newTask submits a task and returns its ID.
func newTask(ctx context.Context, s *suite, session, words string) string {
	a := s.post(ctx, "", object{"input": message(words), "metadata": s.meta()}, "v1/sessions/%s/tasks", session).Status(202, 200)
	statusOfTask(a.Has("id"))
	return text(a.Root(), "id")
}

// ended describes a task that has ended.
type ended struct {
	id, session, status string
	task                *wire.Answer
	receipt             string // ID of the receipt, or "" if there is none
}

// end waits until a task has ended and, if the server issues receipts, has a receipt. The protocol
// allows a task to take a long time or to wait for a person, so a task that has not ended is not a
// failure.
func end(ctx context.Context, s *suite, id string) *ended {
	receipts := caught(func() { able(ctx, s, "receipts") }) == nil
	lasts, cancel := context.WithTimeout(ctx, min(s.client.Timeout(), pollLasts))
	defer cancel()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, pollEvery) {
		a := s.get(ctx, "v1/tasks/%s", id).Status(200)
		status := statusOfTask(a)
		e := &ended{id, text(a.Root(), "session_id"), status, a, text(a.Root(), "receipt_id")}
		if isTerminal(status) && (e.receipt != "" || !receipts) {
			return e
		}
		if status == input || status == auth || !wait(lasts, pause) {
			if isTerminal(status) {
				return e // a caller that needs the receipt reports that it is missing
			}
			skip("a task of one sentence did not end within %s: it is %s", min(s.client.Timeout(), pollLasts), status)
		}
	}
}

// endedTask submits a task in a separate session and waits until it has ended.
func endedTask(ctx context.Context, s *suite, words string) *ended {
	session := newSession(ctx, s)
	return end(ctx, s, newTask(ctx, s, session, words))
}

// plainTask returns a task that has ended and is never changed. All probes share it.
func plainTask(ctx context.Context, s *suite) *ended {
	must(s.own.stuck)
	if s.own.ended == nil {
		err := caught(func() { s.own.ended = endedTask(ctx, s, "a plain task of the run "+s.id) })
		if _, stuck := isSkip(err); stuck {
			s.own.stuck = err
		}
		must(err)
	}
	return s.own.ended
}

// canceledTask returns a task that was canceled before it ended.
func canceledTask(ctx context.Context, s *suite) *ended {
	session := newSession(ctx, s)
	words, tries := s.target.Script.Waits, 1
	if words == "" {
		words, tries = "a task to be canceled of the run "+s.id, 3
	}
	for range tries {
		id := newTask(ctx, s, session, words)
		a := expect(cancel(ctx, s, id, ""))
		if a.Is(200) && text(a.Root(), "status") == canceled {
			expect(s.get(ctx, "v1/tasks/%s", id).Status(200).Object("task").Equal("status", canceled))
		}
		if e := end(ctx, s, id); e.status == canceled {
			return e
		}
	}
	skip("no task could be canceled before it ended; words of one that waits would help")
	return nil
}

// These constants limit how much of a list is read.
const (
	mostPages = 500
	mostBytes = 32 << 20
)

// endless fails the probe because a list exceeds these limits.
func endless(path string) {
	fail("GET /%s: expected a list that ends within %d pages and %d bytes, found no end", path, mostPages, mostBytes)
}

// readPages reads a list page by page to its end. Each request after the first has a query
// parameter, named by the argument by, that contains the result of behind for the previous page.
// The argument next of behind is the cursor in that page, or "" at the end.
func readPages(ctx context.Context, s *suite, path string, limit int, by string, behind func(a *wire.Answer, page []canon.Node, next string) (place string)) (list []canon.Node) {
	size, place := 0, ""
	for range mostPages {
		query := fmt.Sprintf("%s%slimit=%d", path, separator(path), limit)
		if place != "" {
			query += "&" + by + "=" + wire.Segment(place)
		}
		a := s.client.Do(ctx, wire.Request{Path: query})
		page, next := pageOf(a, limit)
		if size += len(a.Body); size > mostBytes {
			endless(path)
		}
		list = append(list, page...)
		if place = behind(a, page, next); next == "" {
			return list
		}
	}
	endless(path)
	return nil
}

// items returns the items of a list. It fails the probe if a page is malformed.
func items(ctx context.Context, s *suite, path string, limit int) []canon.Node {
	seen := map[string]bool{}
	return readPages(ctx, s, path, limit, "cursor", func(a *wire.Answer, page []canon.Node, next string) string {
		for _, id := range ids(page) {
			if id == "" || seen[id] {
				must(a.Fail("expected items that are there once, each with an id, found %s again or none", wire.Quote(id)).Err)
			}
			seen[id] = true
		}
		return next
	})
}

func separator(path string) string {
	for _, c := range path {
		if c == '?' {
			return "&"
		}
	}
	return "?"
}

// pageOf returns the items on a page and the cursor for the next page, or "" at the end.
func pageOf(a *wire.Answer, limit int) (list []canon.Node, next string) {
	a.Status(200).List().Equal("object", "list").Members("page")
	page := a.Root().Member("page")
	more, cursor := page.Member("has_more"), page.Member("next_cursor")
	switch {
	case a.Err != nil:
	case a.Root().Member("data").Len() > limit:
		a.Fail("expected at most %d items, found %d", limit, a.Root().Member("data").Len())
	case more.Kind() != canon.KindBool:
		a.Fail("expected page.has_more to be true or false, found %s", wire.KindName(more.Kind()))
	case more.Bool() && cursor.String() == "":
		a.Fail("expected a text as page.next_cursor where has_more is true, found %s", wire.KindName(cursor.Kind()))
	case more.Bool() && a.Root().Member("data").Len() == 0:
		a.Fail("expected items where has_more is true, found none")
	}
	for _, item := range a.Root().Member("data").Elements() {
		list = append(list, item)
	}
	if more.Bool() {
		next = cursor.String()
	}
	must(a.Err)
	return list, next
}

// eventsOf returns the events in a list, read in ranges of limit events.
func eventsOf(ctx context.Context, s *suite, path string, limit int) []canon.Node {
	return readPages(ctx, s, path, limit, "after_event_id", func(a *wire.Answer, page []canon.Node, next string) string {
		if next == "" {
			return ""
		}
		last := text(page[len(page)-1], "id")
		if last == "" {
			must(a.Fail("expected events with ids, found one without").Err)
		}
		return last
	})
}

// eventsOfTask returns the events of a task that has ended.
func eventsOfTask(ctx context.Context, s *suite, id string) []canon.Node {
	return eventsOf(ctx, s, path("v1/tasks/%s/events", id), 200)
}

// ids returns the IDs of resources.
func ids(list []canon.Node) (out []string) {
	for _, n := range list {
		out = append(out, text(n, "id"))
	}
	return out
}

// sameIDs describes the first difference between two lists of IDs. It returns "" if they are the
// same.
func sameIDs(want, got []string) string {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("expected %d items, found %d: %s is missing", len(want), len(got), wire.Quote(want[i]))
		case i >= len(want):
			return fmt.Sprintf("expected %d items, found %s after them", len(want), wire.Quote(got[i]))
		case want[i] != got[i]:
			return fmt.Sprintf("expected %s as item %d, found %s", wire.Quote(want[i]), i+1, wire.Quote(got[i]))
		}
	}
	return ""
}
