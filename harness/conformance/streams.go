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

// streamLasts is how long a stream is listened to.
const streamLasts = 10 * time.Second

// listen reads a stream behind an event until it has told the last one that is wanted, and
// then a little longer: what comes then is too much.
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

// tells expects a stream to have told the events of a list, and those alone.
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

// streamIsLog reads the stream of a task, and that of its session, from the begin.
func streamIsLog(ctx context.Context, s *suite) {
	streamsFrom(ctx, s, func(int) []int { return []int{0} })
}

// streamResumes reads the same streams on from some of their events.
func streamResumes(ctx context.Context, s *suite) {
	streamsFrom(ctx, s, func(n int) []int { return []int{1, n / 2, n - 1} })
}

// streamsFrom reads streams behind so many of their events; 0 is from the begin.
func streamsFrom(ctx context.Context, s *suite, places func(n int) []int) {
	e := plainTask(ctx, s)
	for _, of := range []struct{ list, stream string }{
		{"v1/tasks/%s/events", "v1/tasks/%s/stream"}, {"v1/sessions/%s/events", "v1/sessions/%s/events/stream"},
	} {
		id := e.id
		if of.list != "v1/tasks/%s/events" {
			id = e.session
		}
		list := eventsOf(ctx, s, path(of.list, id), 200)
		if len(list) < 3 {
			fail("GET /%s: expected some events of a task that has ended, found %d", path(of.list, id), len(list))
		}
		for _, n := range places(len(list)) {
			behind := ""
			if n > 0 {
				behind = text(list[n-1], "id")
			}
			at := path(of.stream, id)
			got := listen(ctx, s, at, behind, text(list[len(list)-1], "id"))
			tells(at, behind, list[n:], got)
		}
	}
}

// streamGoesOn listens to a session while a task is at work in it, leaves in between, and
// comes again with the last id that it has.
func streamGoesOn(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	at := path("v1/sessions/%s/events/stream", session)
	stream := open(ctx, s, wire.Request{Path: at}, streamLasts)
	defer stream.Close()
	id := newTask(ctx, s, session, "a task to be streamed live of the run "+s.id)

	const before = 3 // events until the client leaves
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
	list := eventsOf(ctx, s, path("v1/sessions/%s/events", session), 200)
	if len(list) < before {
		return
	}
	rest := listen(ctx, s, at, got[before-1].ID, text(list[len(list)-1], "id"))
	tells(at, "", list, append(got, rest...))
}
