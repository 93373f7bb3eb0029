package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// fewItems is the number of items that a probe adds to a list, and smallPage is the number of items
// on a page. The last page is therefore not full.
const (
	fewItems  = 5
	smallPage = 2
)

// listPages reads several lists page by page. Items are added to one of them in the meantime.
func listPages(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	for range fewItems {
		newTask(ctx, s, session, "a task to be listed of the run "+s.id)
		expect(s.post(ctx, "", object{"message": message("a message to be listed of the run " + s.id)}, "v1/sessions/%s/messages", session).Status(201, 200))
	}

	tasks := path("v1/sessions/%s/tasks", session)
	pagesGrow(ctx, s, tasks, session)
	for _, at := range []string{tasks, path("v1/sessions/%s/messages", session), path("v1/tasks?session_id=%s", session), path("v1/artifacts?session_id=%s", session)} {
		pagesAgree(ctx, s, at)
	}
}

// pagesAgree expects the same items on small pages as on large ones. The list may grow in the
// meantime, as lists of running tasks do. Items that existed before must be on the small pages, and
// items on the small pages must still exist afterward.
func pagesAgree(ctx context.Context, s *suite, at string) {
	var read [3][]string
	for i, limit := range []int{200, smallPage, 200} {
		read[i] = ids(items(ctx, s, at, limit))
	}

	before, small, after := read[0], read[1], read[2]
	if differs := cmp.Or(sameIDs(before, among(small, before)), sameIDs(small, among(after, small))); differs != "" {
		fail("GET /%s: in pages of %d: %s", at, smallPage, differs)
	}
}

// among returns the IDs that occur in both lists, in the order of the first list.
func among(list, of []string) (some []string) {
	for _, id := range list {
		if slices.Contains(of, id) {
			some = append(some, id)
		}
	}
	return some
}

// pagesGrow reads the first page, adds an item, and then reads the remaining pages. Each earlier
// item must appear exactly once.
func pagesGrow(ctx context.Context, s *suite, at, session string) {
	before := items(ctx, s, at, 200)
	a := s.client.Do(ctx, wire.Request{Path: fmt.Sprintf("%s?limit=%d", at, smallPage)})
	page, next := pageOf(a, smallPage)
	if next == "" {
		must(a.Fail("expected more than one page of %d items, found one of %d", len(before), len(page)).Err)
	}
	newTask(ctx, s, session, "a task that comes late of the run "+s.id)

	got := ids(page)
	for next != "" && len(got) < 100 {
		a = s.client.Do(ctx, wire.Request{Path: fmt.Sprintf("%s?limit=%d&cursor=%s", at, smallPage, wire.Segment(next))})
		page, next = pageOf(a, smallPage)
		got = append(got, ids(page)...)
	}
	if differs := sameIDs(ids(before), among(got, ids(before))); differs != "" {
		fail("GET /%s: while an item was added: %s", at, differs)
	}
}

// eventRanges reads events in ranges of several sizes.
func eventRanges(ctx context.Context, s *suite) {
	e := plainTask(ctx, s)
	for _, at := range []string{path("v1/tasks/%s/events", e.id), path("v1/sessions/%s/events", e.session), path("v1/events?task_id=%s", e.id)} {
		whole := eventsOf(ctx, s, at, 200)
		small := eventsOf(ctx, s, at, smallPage)
		if len(whole) == 0 {
			fail("GET /%s: expected events of a task that has ended, found none", at)
		}
		whole = grown(ctx, s, at, whole, len(small))
		if differs := sameIDs(ids(whole), ids(small)); differs != "" {
			fail("GET /%s: in ranges of %d: %s", at, smallPage, differs)
		}
		for i := range whole {
			if wire.Canonical(whole[i]) != wire.Canonical(small[i]) {
				fail("GET /%s: in ranges of %d: expected the event %s as before, found it changed", at, smallPage, wire.Quote(text(whole[i], "id")))
			}
		}
	}
}

// stalePlaces requests events after an ID, and items after a cursor, that never existed.
func stalePlaces(ctx context.Context, s *suite) {
	e := plainTask(ctx, s)
	never := "conformance_never_" + s.id
	expect(s.get(ctx, "v1/tasks/%s/events?after_event_id=%s", e.id, never).Status(410).Error(protocol.CodeExpired))
	expect(s.get(ctx, "v1/tasks?cursor=%s", never).Status(400, 410).Error(protocol.CodeInvalid, protocol.CodeExpired))
	staleStream(ctx, s, path("v1/tasks/%s/stream", e.id), never)
}

// staleStream expects that resuming a stream after a nonexistent event fails.
func staleStream(ctx context.Context, s *suite, at, never string) {
	stream, err := wire.Open(ctx, s.client, wire.Request{Path: at, LastEventID: never}, firstFrame)
	must(err)
	defer stream.Close()
	if stream.Answer != nil {
		expect(stream.Answer.Status(410).Error(protocol.CodeExpired))
		return
	}

	f, err := stream.Next()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, wire.ErrQuiet):
		fail("%s: after an event that does not exist: expected an error event, found nothing", stream.Request)
	case err != nil:
		fail("%s: %w", stream.Request, err)
	case f.Event != "error":
		fail("%s: after an event that does not exist: expected an error event, found %s", stream.Request, wire.Quote(f.Event))
	case text(f.Data.Root().Member("error"), "code") != string(protocol.CodeExpired):
		fail("%s: expected the error %s, found %s", stream.Request, protocol.CodeExpired, wire.Quote(text(f.Data.Root().Member("error"), "code")))
	}

	stream.Quiet(surplus)
	if f, err = stream.Next(); err == nil {
		fail("%s: expected the end of the stream after its error, found %s", stream.Request, wire.Quote(f.Event))
	}
}
