package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

func streamingProbes() []Probe {
	const where = "Server-Sent Events; Event"
	return group(Upstream, "streaming",
		probe("session_sse_event_shape", sessionStream, "the events of a session are streamed, each as a frame with id, event, and data", where),
		probe("task_sse_event_shape", taskStream, "the events of a task are streamed, each as a frame with id, event, and data", where),
	)
}

// firstFrame is the time limit for the first event of a stream.
const firstFrame = 5 * time.Second

func sessionStream(ctx context.Context, s *suite) {
	ensureSession(ctx, s)

	// A message is posted while the stream is open. The response to the message does not matter.
	ctx, cancel := context.WithCancel(ctx)
	said := make(chan struct{})
	defer func() {
		cancel()
		<-said
	}()
	session := s.session
	go func() {
		defer close(said)
		if wait(ctx, 100*time.Millisecond) {
			s.post(ctx, s.id+"-stream-message", object{"message": message("a message to be streamed of the run " + s.id)}, "v1/sessions/%s/messages", session)
		}
	}()
	streamTells(ctx, s, path("v1/sessions/%s/events/stream", session))
}

func taskStream(ctx context.Context, s *suite) {
	id, _ := submit(ctx, s, "a task to be streamed of the run "+s.id)
	streamTells(ctx, s, path("v1/tasks/%s/stream", id))
}

// streamTells expects that an event arrives on a stream within firstFrame.
func streamTells(ctx context.Context, s *suite, path string) {
	stream := open(ctx, s, wire.Request{Path: path}, firstFrame)
	defer stream.Close()
	f, err := stream.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, wire.ErrQuiet) {
		fail("%s: expected an event within %s, found none", stream.Request, min(firstFrame, s.client.Timeout()))
	}
	if err == nil {
		err = f.Check()
	}
	must(inStream(stream, err))
}

// open opens a stream. It fails the probe if the answer is not a stream.
func open(ctx context.Context, s *suite, r wire.Request, lasts time.Duration) *wire.Stream {
	stream, err := wire.Open(ctx, s.client, r, lasts)
	must(err)
	if stream.Answer != nil {
		expect(stream.Answer.Status(200))
		return nil
	}
	if media := stream.Header.Get("Content-Type"); !strings.HasPrefix(media, "text/event-stream") {
		stream.Close()
		fail("%s: expected the Content-Type text/event-stream, found %s", r, wire.Quote(media))
	}
	return stream
}

// inStream adds the request that opened the stream to err.
func inStream(stream *wire.Stream, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", stream.Request, err)
}

func lifecycleProbes() []Probe {
	return group(Upstream, "lifecycle",
		probe("task_state_machine", taskStates, "a task changes state only as the table of states allows, and has events", "Task lifecycle"),
		probe("cancel_terminal_consistency", cancelConsistency, "a task that is CANCELED was not completed", "Task lifecycle; Task"),
	)
}

// These constants specify how often and for how long a task is polled.
const (
	pollEvery = 250 * time.Millisecond
	pollLasts = 10 * time.Second
)

func taskStates(ctx context.Context, s *suite) {
	id, status := submit(ctx, s, "a task to be watched of the run "+s.id)
	await(ctx, s, id, status)

	events := s.get(ctx, "v1/tasks/%s/events", id).Status(200).Array("data")
	if events.Err == nil && events.Root().Member("data").Len() == 0 {
		events.Fail("expected events of the task, found none")
	}
	for i, e := range events.Root().Member("data").Elements() {
		_, err := wire.Natural(e, "sequence")
		switch {
		case events.Err != nil:
		case text(e, "object") != "event" || text(e, "event") == "":
			events.Fail("expected the object \"event\" with a kind as item %d, found %s", i, wire.Quote(text(e, "object")))
		case err != nil:
			events.Fail("item %d: %v", i, err)
		}
	}
	must(events.Err)
}

// await polls a task until it has ended or the time limit is reached. Each state transition that it
// observes must be allowed.
func await(ctx context.Context, s *suite, id, status string) {
	lasts, cancel := context.WithTimeout(ctx, min(s.client.Timeout(), pollLasts))
	defer cancel()
	for {
		a := s.get(ctx, "v1/tasks/%s", id).Status(200)
		seen := statusOfTask(a)
		if seen != status && !slices.Contains(next(status), seen) {
			must(a.Fail("expected a state that may follow %s, found %s", status, seen).Err)
		}
		status = seen
		remember(s, a.Root())
		if isTerminal(status) || !wait(lasts, pollEvery) {
			return
		}
	}
}

func cancelConsistency(ctx context.Context, s *suite) {
	id, _ := submit(ctx, s, "a task to be canceled of the run "+s.id)
	must(cancel(ctx, s, id, s.id+"-lifecycle-cancel").Err)
	a := s.get(ctx, "v1/tasks/%s", id).Status(200)
	status := statusOfTask(a)
	if at := a.Root().Member("completed_at"); status == canceled && !isNull(at) {
		must(a.Fail("expected no completed_at of a task that is CANCELED, found %s", wire.Quote(string(at.Raw()))).Err)
	}
}

func idempotencyProbes() []Probe {
	return group(Upstream, "idempotency",
		probe("same_key_same_body", sameBody, "a repeated request with the same Idempotency-Key has the same result", "Idempotency"),
		probe("same_key_different_body", differentBody, "an Idempotency-Key with a different body is refused, 409 idempotency_key_reused", "Idempotency; Errors"),
	)
}

func sameBody(ctx context.Context, s *suite) {
	ensureSession(ctx, s)
	var ids [2]string
	for i := range ids {
		a := s.post(ctx, s.id+"-same-body", object{"input": message("a task that is submitted twice of the run " + s.id)}, "v1/sessions/%s/tasks", s.session).Status(202, 200).Has("id")
		if ids[i] = text(a.Root(), "id"); i == 1 && ids[1] != ids[0] {
			a.Fail("expected the task %s again, found %s", wire.Quote(ids[0]), wire.Quote(ids[1]))
		}
		must(a.Err)
	}
}

func differentBody(ctx context.Context, s *suite) {
	ensureSession(ctx, s)
	send := func(words string) *wire.Answer {
		return s.post(ctx, s.id+"-different-body", object{"input": message(words + s.id)}, "v1/sessions/%s/tasks", s.session)
	}
	expect(send("a task of the run ").Status(202, 200))
	expect(send("another task of the run ").Status(409).Error(protocol.CodeKeyReused))
}
