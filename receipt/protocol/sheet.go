package protocol

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// maxSheet is the maximum length of a page, in bytes of its items. One item may be longer.
const maxSheet = 8 << 20

// A sheet is a page that is being filled. The zero value is an empty page.
type sheet struct {
	items [][]byte
	size  int
}

// take adds what the client of a request may see of an item, takes memory for it, and reports
// whether the item fits. The first item always fits, unless there is no memory for it.
func (s *sheet) take(r *Request, item any) (fits bool, err error) {
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
		if len(s.items) > 0 { // a shorter page is a page, too
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
		return nil, Internal(err, "the list could not be written")
	}
	return text, nil
}

// write writes the protocol's form of a list. next is where the next page begins; "" if this is the
// last page.
func (s *sheet) write(w http.ResponseWriter, next string) error {
	const begin = `{"object":"list","data":[`
	end := `],"page":{"has_more":false,"next_cursor":null}}` + "\n"
	if next != "" {
		end = `],"page":{"has_more":true,"next_cursor":` + string(canon.AppendString(nil, next)) + "}}\n"
	}

	h := w.Header()
	h.Set("Content-Type", MediaJSON)
	h.Set("Content-Length", strconv.Itoa(len(begin)+s.size+max(0, len(s.items)-1)+len(end)))
	w.WriteHeader(http.StatusOK)

	// Item by item: a copy of the page would be memory that nobody counts.
	_, err := w.Write([]byte(begin))
	for i, item := range s.items {
		if i > 0 && err == nil {
			_, err = w.Write([]byte{','})
		}
		if err != nil {
			return nil // the client has left, or does not read
		}
		_, err = w.Write(item)
	}
	if err == nil {
		_, _ = w.Write([]byte(end))
	}
	return nil
}
