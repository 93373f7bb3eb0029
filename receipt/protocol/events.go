package protocol

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
)

// ErrGone is returned by a Log that has no event of the id that it was asked for, or has it no
// longer.
var ErrGone = errors.New("protocol: no such event, or it is no longer kept")

// A Log is events in an order to which others are only added: those of a task, of a session,
// or all that a client may see. Its methods must be safe for concurrent use. Ids come from
// strangers: a Log looks them up, it opens nothing by that name.
//
// A stream reads a Log as far as its client reads the stream, a page at a time. So who appends
// waits for nobody, and a client that is slow is behind, and holds nothing: what it misses is
// in the log.
type Log interface {
	// After returns up to limit events that follow the one of an id, in their order; "" is
	// the beginning. None: there are no more yet. The error is or wraps [ErrGone]; or is
	// io.EOF: nothing follows these events, ever, and a stream ends behind them; or says
	// what went wrong in reading, which only the log gets to know.
	After(ctx context.Context, id string, limit int) ([]Event, error)

	// Appended returns a channel that is closed when something is appended after the call.
	// It may be closed for nothing.
	Appended() <-chan struct{}
}

// A Bell tells who waits that something was appended. The zero value is ready; it is safe for
// concurrent use.
type Bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

// Ring wakes who waits. It waits for nobody.
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

// lastEventID is the header by which a client says which event it had last.
const lastEventID = "Last-Event-ID"

// An Event is one of a log, as a harness keeps it.
type Event struct {
	ID   string          // the member id, and the cursor: no other event of the log has it
	Kind string          // the member event, such as task.completed
	JSON json.RawMessage // the protocol's Event object
}

// appendEvent appends the frame of server-sent events that an event is: its id, its kind, and
// its object on one line, each line ended by LF, and an empty line. A line end in the JSON
// text can only stand between its tokens, and becomes a space. The error says that id or kind
// cannot be in a line, or that there is no object; what it returns then is dst.
func appendEvent(dst []byte, e Event) ([]byte, error) {
	switch {
	case !isLine(e.ID):
		return dst, fmt.Errorf("protocol: the id of an event is no line of text: %.80q", e.ID)
	case !isLine(e.Kind):
		return dst, fmt.Errorf("protocol: the kind of the event %.80q is no line of text: %.80q", e.ID, e.Kind)
	case len(e.JSON) == 0:
		return dst, fmt.Errorf("protocol: the event %.80q has no object", e.ID)
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

// isLine reports whether a text can be the value of a line of a frame: readers drop an id with
// a NUL, and end a line at CR as at LF.
func isLine(text string) bool {
	return text != "" && len(text) <= MaxID && utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\r\n")
}

// readLastEventID returns which event a client had last; "" for none. The error is an *[Error]:
// the header is there several times, or no event has such an id.
func readLastEventID(h http.Header) (string, error) {
	list := h.Values(lastEventID)
	switch {
	case len(list) == 0 || len(list) == 1 && list[0] == "":
		return "", nil
	case len(list) > 1:
		return "", Invalid(lastEventID, "expected one %s, found %d", lastEventID, len(list))
	case !isLine(list[0]):
		return "", Invalid(lastEventID, "expected the id of an event as %s: text of at most %d bytes", lastEventID, MaxID)
	}
	return list[0], nil
}

// RangeParams are the parameters of a route that answers with a range of events, beside those
// by which they are filtered.
func RangeParams(filters ...string) []string {
	return append([]string{afterEventID, "limit"}, filters...)
}

const afterEventID = "after_event_id"

// WriteRange answers with a list of the events of a log that follow the one that the client names
// by after_event_id, or of the first: limit of them, 1 to 200, else 50, and fewer when they are
// long. next_cursor is the id to go on by. Whether there are more is what was so when they were
// read: the last page says no, and is asked for again by the id of its last event.
func WriteRange(w http.ResponseWriter, r *Request, log Log) error {
	limit, err := limitOf(r)
	if err != nil {
		return err
	}
	after := r.Query[afterEventID]
	if after != "" && !isLine(after) {
		return Invalid(afterEventID, "expected the id of an event as %s: text of at most %d bytes", afterEventID, MaxID)
	}

	var page sheet
	next, err := readRange(r, log, after, limit, &page)
	switch {
	case errors.Is(err, ErrGone):
		return Expired(afterEventID)
	case err != nil:
		return err
	}
	return page.write(w, next)
}

// readRange fills a page with up to limit events that follow an id, and returns the id of the last
// one if there are more. A log gives as many at a time as it likes: only one that gives none, or
// says so, has no more.
func readRange(r *Request, log Log, last string, limit int, page *sheet) (next string, err error) {
	for {
		// One more than the page has tells whether there are more.
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
