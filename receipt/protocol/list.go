package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// Numbers of items in a page.
const (
	mostPage  = 200
	usualPage = 50
)

// ListParams returns the parameters of a route that answers with a list, including those that
// filter it.
func ListParams(filters ...string) []string {
	return append([]string{"limit", "cursor"}, filters...)
}

// A page is the requested part of a list.
type page struct {
	after string // the name of the last item of the previous page; "": the first page
	limit int    // how many items it has at most, 1 to 200

	list string
}

// readPage reads limit and cursor. A cursor belongs to the list that the path and the other
// parameters name; that of another list is refused with 400.
func readPage(r *Request) (page, error) {
	limit, err := limitOf(r)
	if err != nil {
		return page{}, err
	}
	p := page{limit: limit, list: r.target("limit", "cursor")}
	last, err := ParseCursor(p.list, r.Query["cursor"])
	p.after = string(last)
	return p, err
}

func limitOf(r *Request) (int, error) {
	n, err := r.Query.Number("limit", 1, mostPage, usualPage)
	return int(n), err
}

// behind returns the cursor of the page after an item.
func (p page) behind(last string) (string, error) {
	// A page that leads back to itself would be requested forever.
	next := FormatCursor(p.list, []byte(last))
	if next == "" || last == p.after {
		return "", Internal(nil, "the list does not continue after its last item")
	}
	return next, nil
}

// WriteItems answers with the requested page of the items that keep selects; a nil keep selects
// all. The items are in the order in which they were added, and none may be removed. Each is
// written as JSON, a json.RawMessage unchanged. id returns the name of an item, 1 to 255 bytes that
// never name another item of the list. A page has at most 8 MiB, or one item that is longer, so it
// may have fewer items than requested. A cursor after an item that is not selected is [Expired],
// like one after an item that does not exist.
//
// The name determines the place, not a count, so pages neither skip nor repeat an item when others
// are added at the end.
func WriteItems[T any](w http.ResponseWriter, r *Request, items []T, id func(T) string, keep func(T) bool) error {
	p, err := readPage(r)
	if err != nil {
		return err
	}
	from := 0
	if p.after != "" {
		// A client can write any name into a cursor, so the item is only looked up among those that
		// the client may see.
		from = 1 + slices.IndexFunc(items, func(item T) bool { return id(item) == p.after && (keep == nil || keep(item)) })
		if from == 0 {
			return Expired("cursor")
		}
	}

	var filled sheet
	last := ""
	for _, item := range items[from:] {
		if keep != nil && !keep(item) {
			continue
		}

		// The first item that does not fit shows that there is a next page.
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

// maxSheet is the maximum length of a page, in bytes of its items. A single item may be longer.
const maxSheet = 8 << 20

// A sheet is a page that is being filled. The zero value is an empty page.
type sheet struct {
	items [][]byte
	size  int
}

// take adds the part of an item that the client of a request may see, takes memory for it, and
// reports whether the item fits. The first item always fits, unless there is no memory for it.
func (s *sheet) take(r *Request, item any) (fits bool, err error) {
	// The limits apply to the part that the client sees.
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
		if len(s.items) > 0 { // a shorter page is valid, too
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

// write writes the page in the protocol's form. next is the cursor of the next page, or "" for the
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

	// Items are written one by one, because the memory of a copy would not be counted.
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

// A cursor names the last item of a page, as unpadded base64url.
//
//	1 byte    0x02, of this form
//	16 bytes  the first half of the SHA-256 of the name of the list
//	n bytes   what names the item in the list, 1 to 255
//
// It holds no position, so it stays valid after a restart and when items are added. It reveals
// nothing except an item that the client has already seen.
const (
	cursorForm = 0x02
	cursorList = 16
	cursorLast = 255
)

// maxCursor is the maximum length of a cursor in characters.
const maxCursor = ((1+cursorList+cursorLast)*8 + 5) / 6

// usedForm is the form of cursors that earlier versions returned. Their places no longer exist.
const usedForm = 0x01

// FormatCursor returns the cursor after an item of a list. last is the name of the item there, 1 to
// 255 bytes; for any other length, the cursor is "". Lists with different names are different
// lists: the name includes the path and the filters, or the task whose receipts are listed. The
// cursor of another list is refused.
func FormatCursor(list string, last []byte) string {
	if len(last) == 0 || len(last) > cursorLast {
		return ""
	}
	name := sha256.Sum256([]byte(list))
	b := append([]byte{cursorForm}, name[:cursorList]...)
	return base64.RawURLEncoding.EncodeToString(append(b, last...))
}

// ParseCursor returns the name of the item that precedes a cursor. It is nil without a cursor, and
// with every error. Each cursor has one spelling.
func ParseCursor(list, cursor string) (last []byte, err error) {
	if cursor == "" {
		return nil, nil
	}

	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 skips line ends
	strange := err != nil || len(b) == 0 || len(cursor) > maxCursor || len(cursor) != base64.RawURLEncoding.EncodedLen(len(b))

	// A cursor of the earlier form was valid once, so it is expired, not malformed.
	name := sha256.Sum256([]byte(list))
	switch {
	case !strange && b[0] == usedForm:
		return nil, Expired("cursor")
	case strange || len(b) <= 1+cursorList || b[0] != cursorForm || !bytes.Equal(b[1:1+cursorList], name[:cursorList]):
		return nil, BadCursor()
	}
	return b[1+cursorList:], nil
}

// BadCursor returns the error 400 for a cursor that no list returned.
func BadCursor() *Error {
	return Invalid("cursor", "this cursor is none of this list; begin without one")
}
