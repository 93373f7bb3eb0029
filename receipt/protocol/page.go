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
// The items are what the handler chose: it bounds their bytes, as [WriteItems] does.
//
// Who finds its place by that name, rather than by counting, neither skips an item nor repeats
// one when items are added at the end meanwhile. A name that is not in the list any longer is
// answered [Expired].
func WriteList[T any](w http.ResponseWriter, p Page, items []T, last string, more bool) error {
	next, err := "", error(nil)
	if more {
		if next, err = p.behind(last); err != nil {
			return err
		}
	}
	var page sheet
	for _, item := range items {
		text, err := textOf(item)
		if err == nil {
			text, err = visible(w, MediaJSON, text)
		}
		if err != nil {
			return err
		}
		page.items, page.size = append(page.items, text), page.size+len(text)
	}
	if err := room(w, page.size); err != nil {
		return err
	}
	return page.write(w, next)
}

// behind returns the cursor of the page that follows an item.
func (p Page) behind(last string) (string, error) {
	next := FormatCursor(p.list, []byte(last))
	if next == "" || last == p.After {
		return "", Internal(nil, "the list does not continue after its last item")
	}
	return next, nil
}

// WriteItems answers with the page that the client asks for, of items that are in the order in
// which they came and of which none goes: those that are kept. A nil keep keeps all. id names
// an item, as [WriteList] wants it. A page has at most 8 MiB, or one item that is longer, so that
// it may have fewer items than the client asks for. A cursor after an item that is not kept is
// [Expired], like a cursor after an item that does not exist.
func WriteItems[T any](w http.ResponseWriter, r *Request, items []T, id func(T) string, keep func(T) bool) error {
	p, err := ReadPage(r)
	if err != nil {
		return err
	}
	from := 0
	if p.After != "" {
		// A client can write any name into a cursor, so the item is looked up among those that it may see.
		from = 1 + slices.IndexFunc(items, func(item T) bool { return id(item) == p.After && (keep == nil || keep(item)) })
		if from == 0 {
			return Expired("cursor")
		}
	}

	var page sheet
	last := ""
	for _, item := range items[from:] {
		if keep != nil && !keep(item) {
			continue
		}
		fits := false
		if len(page.items) < p.Limit {
			if fits, err = page.take(r, item); err != nil {
				return err
			}
		}
		if !fits {
			next, err := p.behind(last)
			if err != nil {
				return err
			}
			return page.write(w, next)
		}
		last = id(item)
	}
	return page.write(w, "")
}
