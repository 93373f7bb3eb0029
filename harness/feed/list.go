package feed

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// These are the limits on the number of items on a page.
const (
	mostPage  = 200
	usualPage = 50
)

// ListParams returns the query parameters of a route that returns a list, including the given
// filters.
func ListParams(filters ...string) []string {
	return append([]string{"limit", "cursor"}, filters...)
}

// A page specifies which part of a list was requested.
type page struct {
	after string // name of the last item on the previous page, or "" for the first page
	limit int    // maximum number of items (1 to 200)

	list string
}

// readPage reads the parameters limit and cursor of a request. A cursor belongs to the list that is
// identified by the path and the other parameters. A cursor for another list is rejected with a 400
// response.
func readPage(r *protocol.Request) (page, error) {
	limit, err := limitOf(r)
	if err != nil {
		return page{}, err
	}
	p := page{limit: limit, list: r.Target("limit", "cursor")}
	last, err := protocol.ParseCursor(p.list, r.Query["cursor"])
	p.after = string(last)
	return p, err
}

func limitOf(r *protocol.Request) (int, error) {
	n, err := r.Query.Number("limit", 1, mostPage, usualPage)
	return int(n), err
}

// behind returns the cursor for the page that follows the given item.
func (p page) behind(last string) (string, error) {
	// Without this check, a client could endlessly request a page that leads back to itself.
	next := protocol.FormatCursor(p.list, []byte(last))
	if next == "" || last == p.after {
		return "", protocol.Internal(nil, "the list does not continue after its last item")
	}
	return next, nil
}

// WriteItems responds with the requested page of the items for which keep returns true. If keep is
// nil, all items are selected. The items must be in the order in which they were added, and no item
// may ever be removed. Each item is written as JSON; a json.RawMessage is written unchanged. The
// function id returns the name of an item, which must have 1 to 255 bytes and must never identify
// another item in the list. A page is at most 8 MiB long unless it consists of a single longer
// item, so it may have fewer items than requested. A cursor after an item that is not selected is
// reported as expired (410), like a cursor after an item that does not exist.
//
// Positions are determined by name instead of by count, so pages neither skip nor repeat an item
// when others are added at the end.
func WriteItems[T any](w http.ResponseWriter, r *protocol.Request, items []T, id func(T) string, keep func(T) bool) error {
	p, err := readPage(r)
	if err != nil {
		return err
	}
	from := 0
	if p.after != "" {
		// A client can write any name into a cursor, so the item is looked up only among the items
		// that the client may see.
		from = 1 + slices.IndexFunc(items, func(item T) bool { return id(item) == p.after && (keep == nil || keep(item)) })
		if from == 0 {
			return protocol.Expired("cursor")
		}
	}

	var filled sheet
	last := ""
	for _, item := range items[from:] {
		if keep != nil && !keep(item) {
			continue
		}

		// The first item that does not fit shows that there is another page.
		fits := false
		if len(filled.items) < p.limit {
			if fits, err = filled.take(r, item); err != nil {
				return err
			}
		}
		if !fits {
			next, err := p.behind(last)
			if err != nil {
				return err
			}
			return filled.write(w, next)
		}
		last = id(item)
	}
	return filled.write(w, "")
}

// maxSheet is the maximum total length of the items on a page, in bytes. A single item may be
// longer.
const maxSheet = 8 << 20

// A sheet is a page that is being filled. The zero value is an empty page.
type sheet struct {
	items [][]byte
	size  int
}

// take adds the part of an item that the client may see, reserves memory for it, and reports
// whether the item fits. The first item always fits, unless there is no memory for it.
func (s *sheet) take(r *protocol.Request, item any) (fits bool, err error) {
	// The limits apply to the part that the client may see.
	text, err := textOf(item)
	if err == nil {
		text, err = r.Client.Visible(text)
	}
	switch {
	case err != nil:
		return false, err
	case s.size > 0 && s.size+len(text) > maxSheet:
		return false, nil
	}

	if err := r.Hold(int64(len(text))); err != nil {
		if len(s.items) > 0 { // a shorter page is also valid
			err = nil
		}
		return false, err
	}
	s.items, s.size = append(s.items, text), s.size+len(text)
	return true, nil
}

// textOf returns an item as JSON.
func textOf(item any) ([]byte, error) {
	if raw, ok := item.(json.RawMessage); ok {
		return raw, nil
	}
	text, err := receipt.AppendJSON(nil, item)
	if err != nil {
		return nil, protocol.Internal(err, "the list could not be written")
	}
	return text, nil
}

// write writes the page in the format of the protocol. The argument next is the cursor for the next
// page, or "" for the last page.
func (s *sheet) write(w http.ResponseWriter, next string) error {
	const begin = `{"object":"list","data":[`
	end := `],"page":{"has_more":false,"next_cursor":null}}` + "\n"
	if next != "" {
		end = `],"page":{"has_more":true,"next_cursor":` + string(canon.AppendString(nil, next)) + "}}\n"
	}

	h := w.Header()
	h.Set("Content-Type", protocol.MediaJSON)
	h.Set("Content-Length", strconv.Itoa(len(begin)+s.size+max(0, len(s.items)-1)+len(end)))
	w.WriteHeader(http.StatusOK)

	// Items are written one by one, because the memory for a copy would not be counted.
	_, err := w.Write([]byte(begin))
	for i, item := range s.items {
		if i > 0 && err == nil {
			_, err = w.Write([]byte{','})
		}
		if err != nil {
			return nil // the client has disconnected or does not read
		}
		_, err = w.Write(item)
	}
	if err == nil {
		_, _ = w.Write([]byte(end))
	}
	return nil
}
