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

// How many items a page has.
const (
	mostPage  = 200
	usualPage = 50
)

// ListParams are the parameters of a route that answers with a list, beside those by which
// it is filtered.
func ListParams(filters ...string) []string {
	return append([]string{"limit", "cursor"}, filters...)
}

// A page says which part of a list is wanted.
type page struct {
	after string // what names the last item of the page before; "": the first page
	limit int    // how many items it has at most, 1 to 200

	list string
}

// readPage reads limit and cursor. A cursor is of the list that the path and the other
// parameters name: that of another one is refused, 400.
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

// behind returns the cursor of the page that follows an item.
func (p page) behind(last string) (string, error) {
	next := FormatCursor(p.list, []byte(last))
	if next == "" || last == p.after {
		return "", Internal(nil, "the list does not continue after its last item")
	}
	return next, nil
}

// WriteItems answers with the page that the client asks for, of items that are in the order in
// which they came and of which none goes: those that are kept. A nil keep keeps all. Each item is
// written as JSON, a json.RawMessage as it is. id names an item in 1 to 255 bytes, by which no
// other item of the list is ever named. A page has at most 8 MiB, or one item that is longer, so
// that it may have fewer items than the client asks for. A cursor after an item that is not kept
// is [Expired], like a cursor after an item that does not exist.
//
// A place is found by that name, and not by counting, so that pages neither skip nor repeat an
// item when others are added at the end meanwhile.
func WriteItems[T any](w http.ResponseWriter, r *Request, items []T, id func(T) string, keep func(T) bool) error {
	p, err := readPage(r)
	if err != nil {
		return err
	}
	from := 0
	if p.after != "" {
		// A client can write any name into a cursor, so the item is looked up among those that it may see.
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

// A cursor names the last item of a page, as unpadded base64url.
//
//	1 byte    0x02, of this form
//	16 bytes  the first half of the SHA-256 of the name of the list
//	n bytes   what names the item in the list, 1 to 255
//
// It holds no position, so that it means the same after a restart and when there are more
// items then; and it tells a client of nothing but an item that the client was given.
const (
	cursorForm = 0x02
	cursorList = 16
	cursorLast = 255
)

// maxCursor is how many characters a cursor has at most.
const maxCursor = ((1+cursorList+cursorLast)*8 + 5) / 6

// usedForm is of cursors that were given out before: their places are gone.
const usedForm = 0x01

// FormatCursor returns the cursor behind an item of a list: what names the item there, 1 to
// 255 bytes; for none or more there is no cursor, "". The name of the list is all that makes
// it another list: the task whose receipts it holds, the path and the filters. What is asked
// with the cursor of another list is refused.
func FormatCursor(list string, last []byte) string {
	if len(last) == 0 || len(last) > cursorLast {
		return ""
	}
	name := sha256.Sum256([]byte(list))
	b := append([]byte{cursorForm}, name[:cursorList]...)
	return base64.RawURLEncoding.EncodeToString(append(b, last...))
}

// ParseCursor returns what names the item that a cursor is behind; nil without a cursor, and
// with every error. Each cursor has one spelling.
func ParseCursor(list, cursor string) (last []byte, err error) {
	if cursor == "" {
		return nil, nil
	}

	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 skips line ends
	strange := err != nil || len(b) == 0 || len(cursor) > maxCursor || len(cursor) != base64.RawURLEncoding.EncodedLen(len(b))

	// A cursor of the earlier form was honestly given out: it is gone, not malformed.
	name := sha256.Sum256([]byte(list))
	switch {
	case !strange && b[0] == usedForm:
		return nil, Expired("cursor")
	case strange || len(b) <= 1+cursorList || b[0] != cursorForm || !bytes.Equal(b[1:1+cursorList], name[:cursorList]):
		return nil, BadCursor()
	}
	return b[1+cursorList:], nil
}

// BadCursor is for a cursor that no list gave out.
func BadCursor() *Error {
	return Invalid("cursor", "this cursor is none of this list; begin without one")
}
