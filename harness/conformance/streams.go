package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
)

// streamLasts is the time limit for reading a stream.
const streamLasts = 10 * time.Second

// listen reads the part of a stream that follows an event. It reads until the expected last event,
// and then a little longer to detect unexpected events.
func listen(ctx context.Context, s *suite, at, behind, last string) []wire.Frame {
	stream := open(ctx, s, wire.Request{Path: at, LastEventID: behind}, streamLasts)
	defer stream.Close()
	var list []wire.Frame
	for {
		f, err := stream.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, wire.ErrQuiet) {
			return list
		}
		if err == nil {
			err = f.Check()
		}
		if err == nil && (f.ID != text(f.Data.Root(), "id") || f.Event != text(f.Data.Root(), "event")) {
			err = fmt.Errorf("expected the id and the kind of the event %s in the lines of its frame, found %s and %s", wire.Quote(text(f.Data.Root(), "id")), wire.Quote(f.ID), wire.Quote(f.Event))
		}
		must(inStream(stream, err))
		if list = append(list, f); f.ID == last {
			stream.Quiet(surplus)
		}
	}
}

// grown returns a list of events, or its first n events read again if n is greater. A list can grow
// after the task has ended: an event about the receipt may follow.
func grown(ctx context.Context, s *suite, path string, list []canon.Node, n int) []canon.Node {
	if n <= len(list) {
		return list
	}
	if later := eventsOf(ctx, s, path, 200); len(later) >= n {
		return later[:n]
	}
	return list
}

// tells expects that a stream contained exactly the events of a list.
func tells(at, behind string, want []canon.Node, got []wire.Frame) {
	var told []string
	for _, f := range got {
		told = append(told, f.ID)
	}
	where := "GET /" + at
	if behind != "" {
		where += " behind " + wire.Quote(behind)
	}
	if differs := sameIDs(ids(want), told); differs != "" {
		fail("%s: %s", where, differs)
	}
	for i, f := range got {
		if wire.Canonical(f.Data.Root()) != wire.Canonical(want[i]) {
			fail("%s: expected the event %s as it is listed, found another", where, wire.Quote(f.ID))
		}
	}
}

// streamIsLog reads the streams of a task and of its session from the beginning, and expects the
// same events as in the corresponding lists.
func streamIsLog(ctx context.Context, s *suite) {
	streamsFrom(ctx, s, func(int) []int { return []int{0} })
}

// streamResumes resumes the same streams after some of their events.
func streamResumes(ctx context.Context, s *suite) {
	streamsFrom(ctx, s, func(n int) []int { return []int{1, n / 2, n - 1} })
}

// streamsFrom reads streams from several places; each place is the number of events to skip.
func streamsFrom(ctx context.Context, s *suite, places func(n int) []int) {
	e := plainTask(ctx, s)
	for _, of := range []struct{ list, stream string }{
		{"v1/tasks/%s/events", "v1/tasks/%s/stream"}, {"v1/sessions/%s/events", "v1/sessions/%s/events/stream"},
	} {
		id := e.id
		if of.list != "v1/tasks/%s/events" {
			id = e.session
		}
		listed := path(of.list, id)
		list := eventsOf(ctx, s, listed, 200)
		if len(list) < 3 {
			fail("GET /%s: expected some events of a task that has ended, found %d", listed, len(list))
		}
		for _, n := range places(len(list)) {
			behind := ""
			if n > 0 {
				behind = text(list[n-1], "id")
			}
			at := path(of.stream, id)
			got := listen(ctx, s, at, behind, text(list[len(list)-1], "id"))
			list = grown(ctx, s, listed, list, n+len(got))
			tells(at, behind, list[n:], got)
		}
	}
}

// streamGoesOn reads the stream of a session while a task runs in the session. It disconnects and
// resumes with the last event ID that it received.
func streamGoesOn(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	at := path("v1/sessions/%s/events/stream", session)
	stream := open(ctx, s, wire.Request{Path: at}, streamLasts)
	defer stream.Close()
	id := newTask(ctx, s, session, "a task to be streamed live of the run "+s.id)

	const before = 3 // number of events to read before the client disconnects
	var got []wire.Frame
	for len(got) < before {
		f, err := stream.Next()
		if err == nil {
			err = f.Check()
		}
		if err != nil {
			fail("%s: expected %d events of a task at work, found %d: %w", stream.Request, before, len(got), err)
		}
		got = append(got, f)
	}
	stream.Close()

	end(ctx, s, id)
	listed := path("v1/sessions/%s/events", session)
	list := eventsOf(ctx, s, listed, 200)
	if len(list) < before {
		return
	}
	got = append(got, listen(ctx, s, at, got[before-1].ID, text(list[len(list)-1], "id"))...)
	tells(at, "", grown(ctx, s, listed, list, len(got)), got)
}
