package protocol

import (
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
