package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// pageOfStream is the number of events that a stream reads at a time.
const pageOfStream = 64

// errorEvent is the kind of the event that ends a stream after an error.
const errorEvent = "error"

// WriteStream responds with the events of a log as server-sent events. It sends the events that
// follow the event specified by the Last-Event-ID header, or all events if there is no such header,
// and then sends events as they are appended. The stream ends when the client disconnects, the log
// ends, or the Mux is closed. It also ends when the client would no longer be admitted with the
// same rights, because its API key was removed or changed, or because keys are now required. A slow
// client does not delay other clients. A client that does not read within [protocol.Limits].Idle is
// disconnected, and can reconnect with its last event ID.
//
//   - Each frame has the fields id, event, and data, each on one line, and ends with LF LF.
//   - The first block is always an event. After that, a comment every 15 seconds shows that the
//     stream is alive.
//   - If the client's position no longer exists, or the log cannot be read, the last event has the
//     kind "error" and contains the error envelope. It has the ID of the previous event, if there
//     is one.
//
// If WriteStream returns an error, the response has not started.
func WriteStream(w http.ResponseWriter, r *protocol.Request, log Log) error {
	// Nothing is sent until the request has been checked and has a slot.
	last, err := readLastEventID(r.Header)
	if err != nil {
		return err
	}
	place, end, err := r.Stream()
	if err != nil {
		return err
	}
	defer end()

	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // without this header, a proxy may delay events
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}

	s := &streamer{Stream: place, w: w, flush: http.NewResponseController(w).Flush, log: log, last: last, left: r.Context().Done(), visible: r.Client.Visible}

	// From here on, errors are sent as events.
	if err := s.flush(); err != nil {
		return protocol.Internal(err, "a stream cannot be sent here")
	}
	if err := s.run(r.Context()); err != nil {
		s.fail(err, r)
	}
	return nil
}

// A streamer sends the events of a log.
type streamer struct {
	protocol.Stream

	w     io.Writer
	flush func() error
	log   Log
	last  string // ID of the last event that was sent or that the client already had
	begun bool   // whether an event was sent
	frame []byte

	left    <-chan struct{}              // closed when the client disconnects
	visible func([]byte) ([]byte, error) // returns the part of an event that the client may see
}

// errUnread indicates that a client is not reading or has disconnected.
var errUnread = errors.New("feed: client is not reading or has disconnected")

// run sends events until the client disconnects or there are no more events.
func (s *streamer) run(ctx context.Context) error {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for !s.over() && s.Admitted() {
		// The channel is requested before the log is read, so that no event is missed.
		appended := s.log.Appended()
		page, err := s.log.After(ctx, s.last, pageOfStream)

		n := bytesOf(page)
		give := s.Take(n)
		if give == nil {
			page = nil // the page is dropped, and read again when memory is available
			s.waitForRoom(n, ticker.C)
			continue
		}
		unsent := s.send(page)
		give()

		switch {
		case unsent != nil:
			return unsent
		case errors.Is(err, io.EOF), s.over():
			return nil
		case err != nil:
			return err
		case len(page) == 0:
			wait(s, appended, ticker.C)
		}
	}
	return nil
}

// beat is the interval at which an idle stream sends a comment, so that neither side assumes that
// the other has disconnected.
const beat = 15 * time.Second

// crowded is how long a stream pauses while clients that do not read use all memory for responses.
const crowded = 100 * time.Millisecond

func bytesOf(page []Event) (n int64) {
	for _, e := range page {
		n += int64(len(e.JSON))
	}
	return n
}

// waitForRoom waits until there is memory for n bytes, or until the stream is over.
func (s *streamer) waitForRoom(n int64, beat <-chan time.Time) {
	for !s.over() && s.Admitted() {
		wait(s, time.After(crowded), beat)
		if give := s.Take(n); give != nil {
			give()
			return
		}
	}
}

// over reports whether the client has disconnected or the Mux is closed.
func (s *streamer) over() bool {
	select {
	case <-s.left:
		return true
	case <-s.Closing:
		return true
	default:
		return false
	}
}

// wait waits until there may be more events to send, or until the stream is over.
func wait[T any](s *streamer, appended <-chan T, beat <-chan time.Time) {
	// A beat ends the wait only if the client has disconnected or is no longer admitted.
	for {
		select {
		case <-appended:
			return
		case <-s.left:
			return
		case <-s.Closing:
			return
		case <-beat:
			if !s.Admitted() || s.beat() != nil {
				return
			}
		}
	}
}

// beat sends a comment to show that the stream is alive. Nothing is sent before the first event,
// because the first block must be an event.
func (s *streamer) beat() error {
	if !s.begun {
		return nil
	}
	return s.put([]byte(":\n\n"))
}

// send sends the events on a page.
func (s *streamer) send(page []Event) (err error) {
	for _, e := range page {
		if s.over() {
			return nil
		}

		// Without this check, a log that returns the same event again would cause an endless
		// stream.
		if e.ID == s.last {
			return fmt.Errorf("feed: log returned event %.80q after itself", e.ID)
		}
		if e.JSON, err = s.visible(e.JSON); err != nil {
			return err
		}

		frame, err := appendEvent(s.frame[:0], e)
		if err != nil {
			return err
		}
		if s.frame = frame; s.put(frame) != nil {
			return errUnread
		}
		s.last, s.begun = e.ID, true
	}
	return nil
}

// put sends bytes without buffering. The client must read them within the idle timeout.
func (s *streamer) put(b []byte) error {
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.flush()
}

// fail ends a stream with an error event.
func (s *streamer) fail(err error, r *protocol.Request) {
	if errors.Is(err, errUnread) {
		return
	}

	// The cause appears only in the server's log.
	e := protocol.Internal(err, "the events cannot be read")
	if errors.Is(err, ErrGone) {
		e = protocol.Expired(lastEventID)
	}
	s.Fault(e)

	text, err := receipt.AppendJSON(nil, e.Envelope(r.ID))
	if err != nil {
		return
	}

	// The event has the ID of the last event, so that the client can continue after it.
	id := ""
	if s.begun {
		id = s.last
	}
	_ = s.put(appendFrame(nil, id, errorEvent, text)) // the client may have disconnected
}
