package protocol

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// RangeParams are the parameters of a route that answers with a range of events, beside those
// by which they are filtered.
func RangeParams(filters ...string) []string {
	return append([]string{afterEventID, "limit"}, filters...)
}

const afterEventID = "after_event_id"

// WriteRange answers with a list of the events of a log that follow the one that the client names
// by after_event_id, or of the first: limit of them, 1 to 200, else 50. next_cursor is the id
// to go on by. Whether there are more is what was so when they were read: the last page says
// no, and is asked for again by the id of its last event.
func WriteRange(w http.ResponseWriter, r *Request, log Log) error {
	limit, err := limitOf(r)
	if err != nil {
		return err
	}
	after := r.Query[afterEventID]
	if after != "" && !isLine(after) {
		return Invalid(afterEventID, "expected the id of an event as %s: text of at most %d bytes", afterEventID, MaxID)
	}

	// One more than the page has tells whether there are more.
	events, err := log.After(r.Context(), after, limit+1)
	switch {
	case errors.Is(err, ErrGone):
		return Expired(afterEventID)
	case err != nil && !errors.Is(err, io.EOF):
		return err
	}

	more := len(events) > limit
	events = events[:min(len(events), limit)]
	next, items := "", make([]json.RawMessage, len(events))
	for i, e := range events {
		next, items[i] = e.ID, e.JSON
	}
	return writePage(w, items, next, more)
}
