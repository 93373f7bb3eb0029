package protocol

import (
	"encoding/json"
	"net/http"
	"slices"

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

// A Page says which part of a list is wanted.
type Page struct {
	After string // what names the last item of the page before; "": the first page
	Limit int    // how many items it has at most, 1 to 200

	list string
}

// ReadPage reads limit and cursor. A cursor is of the list that the path and the other
// parameters name: that of another one is refused, 400.
func ReadPage(r *Request) (Page, error) {
	limit, err := limitOf(r)
	if err != nil {
		return Page{}, err
	}
	p := Page{Limit: limit, list: r.target("limit", "cursor")}
	last, err := ParseCursor(p.list, r.Query["cursor"])
	p.After = string(last)
	return p, err
}

func limitOf(r *Request) (int, error) {
	n, err := r.Query.Number("limit", 1, mostPage, usualPage)
	return int(n), err
}

// WriteList answers with a page of a list. Each item is written as JSON, a json.RawMessage as
// it is. last is what names the last of the items in the list, in 1 to 255 bytes that no other
// item is named by, ever; more says that there are items behind it.
//
// Who finds its place by that name, rather than by counting, neither skips an item nor repeats
// one when items are added at the end meanwhile. A name that is not in the list any longer is
// answered [Expired].
func WriteList[T any](w http.ResponseWriter, p Page, items []T, last string, more bool) error {
	next := ""
	if more {
		if next = FormatCursor(p.list, []byte(last)); next == "" || last == p.After {
			return Internal(nil, "the list does not go on behind its last item")
		}
	}
	return writePage(w, items, next, more)
}

// WriteItems answers with the page that the client asks for, of items that are in the order in
// which they came and of which none goes: those that are kept. A nil keep keeps all. id names
// an item, as [WriteList] wants it.
func WriteItems[T any](w http.ResponseWriter, r *Request, items []T, id func(T) string, keep func(T) bool) error {
	p, err := ReadPage(r)
	if err != nil {
		return err
	}
	from := 0
	if p.After != "" {
		if from = 1 + slices.IndexFunc(items, func(item T) bool { return id(item) == p.After }); from == 0 {
			return Expired("cursor")
		}
	}

	var page []T
	for _, item := range items[from:] {
		if keep != nil && !keep(item) {
			continue
		}
		if len(page) == p.Limit {
			return WriteList(w, p, page, id(page[len(page)-1]), true)
		}
		page = append(page, item)
	}
	return WriteList(w, p, page, "", false)
}

// writePage writes the protocol's form of a list.
func writePage[T any](w http.ResponseWriter, items []T, next string, more bool) error {
	out := []byte(`{"object":"list","data":[`)
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendItem(out, item); err != nil {
			return Internal(err, "the list could not be written")
		}
	}

	out = append(out, `],"page":{"has_more":`...)
	if more {
		out = canon.AppendString(append(out, `true,"next_cursor":`...), next)
	} else {
		out = append(out, `false,"next_cursor":null`...)
	}
	Write(w, http.StatusOK, MediaJSON, append(out, "}}\n"...))
	return nil
}

func appendItem(dst []byte, item any) ([]byte, error) {
	if raw, ok := item.(json.RawMessage); ok {
		return append(dst, raw...), nil
	}
	return receipt.AppendJSON(dst, item)
}
