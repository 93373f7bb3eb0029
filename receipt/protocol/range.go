package protocol

import (
	"context"
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

	items, next, more, err := readRange(r.Context(), log, after, limit)
	switch {
	case errors.Is(err, ErrGone):
		return Expired(afterEventID)
	case err != nil:
		return err
	}
	return writePage(w, items, next, more)
}

// bytesOfRange is about how long a range is at most, in bytes of its events.
const bytesOfRange = 8 << 20

// readRange reads up to limit events behind an id. A log gives as many at a time as it likes:
// only one that gives none, or says so, has no more.
func readRange(ctx context.Context, log Log, after string, limit int) (items []json.RawMessage, last string, more bool, err error) {
	last = after
	for size := 0; ; {
		// One more than the page has tells whether there are more.
		events, err := log.After(ctx, last, limit-len(items)+1)
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return nil, "", false, err
		}
		for _, e := range events {
			if len(items) == limit || size > 0 && size+len(e.JSON) > bytesOfRange {
				return items, last, true, nil
			}
			items, last, size = append(items, e.JSON), e.ID, size+len(e.JSON)
		}
		if ended || len(events) == 0 {
			return items, last, false, nil
		}
	}
}
