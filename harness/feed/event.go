package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// ErrGone indicates that a Log never contained an event with the requested ID, or no longer
// contains it.
var ErrGone = errors.New("feed: event does not exist or is no longer stored")

// A Log is an append-only sequence of events, such as the events of a task or of a session, or all
// events that a client may see. Its methods must be safe for concurrent use. IDs are untrusted. A
// Log must only look up IDs, and must never use an ID to open a file or another resource.
//
// A stream reads a Log one page at a time, as fast as its client reads the stream. Therefore,
// appending never waits for a client, and a slow client uses no memory, because unread events are
// only in the log.
type Log interface {
	// After returns up to limit events, in order, that follow the event with the given ID; "" means
	// the beginning. An empty result means that there are no more events yet. The error is (or
	// wraps) [ErrGone] if there is no event with that ID. It is io.EOF if no event will ever
	// follow, so that a stream ends after these events. Any other error is a read error, which is
	// only logged.
	After(ctx context.Context, id string, limit int) ([]Event, error)

	// Appended returns a channel that is closed when an event is appended after the call. It may
	// also be closed without a new event.
	Appended() <-chan struct{}
}

// A Bell wakes goroutines that wait for new events. The zero value is ready to use. A Bell is safe
// for concurrent use.
type Bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

// Ring wakes all waiting goroutines. It does not block.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}

// Rung returns a channel that the next Ring closes.
func (b *Bell) Rung() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

// lastEventID is the header that contains the ID of the last event that a client received.
const lastEventID = "Last-Event-ID"

// An Event is an event in a log, in the form in which a harness stores it.
type Event struct {
	ID   string          // value of the member id, which is also the cursor; unique in the log
	Kind string          // value of the member event, such as task.completed
	JSON json.RawMessage // the Event object that the protocol defines
}

// appendEvent appends an event as a frame of server-sent events. The frame contains the event's ID,
// its kind, and its object on one line. Each line ends with LF, and an empty line ends the frame. A
// line break in JSON text can occur only between tokens, and is replaced by a space. If the ID or
// the kind cannot be part of a line, or if there is no object, appendEvent returns dst and an
// error.
func appendEvent(dst []byte, e Event) ([]byte, error) {
	switch {
	case !isLine(e.ID):
		return dst, fmt.Errorf("feed: invalid event ID %.80q: must be one line of text", e.ID)
	case !isLine(e.Kind):
		return dst, fmt.Errorf("feed: event %.80q has an invalid kind %.80q: must be one line of text", e.ID, e.Kind)
	case len(e.JSON) == 0:
		return dst, fmt.Errorf("feed: event %.80q has no object", e.ID)
	}
	return appendFrame(dst, e.ID, e.Kind, e.JSON), nil
}

func appendFrame(dst []byte, id, kind string, data []byte) []byte {
	if id != "" {
		dst = append(append(append(dst, "id: "...), id...), '\n')
	}
	dst = append(append(append(dst, "event: "...), kind...), "\ndata: "...)
	begin := len(dst)
	dst = append(dst, data...)
	for i, b := range dst[begin:] {
		if b == '\n' || b == '\r' {
			dst[begin+i] = ' '
		}
	}
	return append(dst, "\n\n"...)
}

// isLine reports whether a string can be the value of a line in a frame. Readers ignore an ID that
// contains a NUL, and treat CR as the end of a line, like LF.
func isLine(text string) bool {
	return text != "" && len(text) <= protocol.MaxID && utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\r\n")
}

// readLastEventID returns the ID of the last event that a client received, or "" if the client
// sends none. The error is a *[protocol.Error] if the header occurs more than once or if its value
// cannot be the ID of an event.
func readLastEventID(h http.Header) (string, error) {
	list := h.Values(lastEventID)
	switch {
	case len(list) == 0 || len(list) == 1 && list[0] == "":
		return "", nil
	case len(list) > 1:
		return "", protocol.Invalid(lastEventID, "expected one %s, found %d", lastEventID, len(list))
	case !isLine(list[0]):
		return "", protocol.Invalid(lastEventID, "expected the id of an event as %s: text of at most %d bytes", lastEventID, protocol.MaxID)
	}
	return list[0], nil
}

// RangeParams returns the query parameters of a route that returns a range of events, including the
// given filters.
func RangeParams(filters ...string) []string {
	return append([]string{afterEventID, "limit"}, filters...)
}

const afterEventID = "after_event_id"

// WriteRange responds with a list of events from a log. The list starts after the event specified
// in after_event_id, or at the beginning. It contains up to limit events (1 to 200, by default 50),
// and fewer if they are long. The member next_cursor is the ID with which to continue. The member
// has_more describes the log at the time of reading. After the last page, a client can request
// newer events with the ID of the last event that it received.
func WriteRange(w http.ResponseWriter, r *protocol.Request, log Log) error {
	// The parameters are checked before the log is read.
	limit, err := limitOf(r)
	if err != nil {
		return err
	}
	after := r.Query[afterEventID]
	if after != "" && !isLine(after) {
		return protocol.Invalid(afterEventID, "expected the id of an event as %s: text of at most %d bytes", afterEventID, protocol.MaxID)
	}

	var page sheet
	next, err := readRange(r, log, after, limit, &page)
	switch {
	case errors.Is(err, ErrGone):
		return protocol.Expired(afterEventID)
	case err != nil:
		return err
	}
	return page.write(w, next)
}

// readRange fills a page with up to limit events that follow an ID. It returns the ID of the last
// event on the page if there are more events. A log may return any number of events at a time.
// There are no more events if the log returns none, or io.EOF.
func readRange(r *protocol.Request, log Log, last string, limit int, page *sheet) (next string, err error) {
	for {
		// Request one event more than fits on the page, which shows whether there are more.
		events, err := log.After(r.Context(), last, limit-len(page.items)+1)
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return "", err
		}

		for _, e := range events {
			fits := false
			if len(page.items) < limit {
				if fits, err = page.take(r, e.JSON); err != nil {
					return "", err
				}
			}
			if !fits {
				return last, nil
			}
			last = e.ID
		}

		if ended || len(events) == 0 {
			return "", nil
		}
	}
}
