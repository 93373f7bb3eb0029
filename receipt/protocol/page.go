package protocol

import (
	"net/http"
	"slices"
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
