package feed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A shelf is a list to which items can be added.
type shelf struct {
	mu    sync.Mutex
	items []string
}

func (s *shelf) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.items = append(s.items, fmt.Sprint("item_", len(s.items)))
	}
}

// serve returns a page of the items in order of their names.
func (s *shelf) serve(w http.ResponseWriter, r *protocol.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return WriteItems(w, r, s.items, func(item string) string { return item }, nil)
}

// A listPage has the protocol's format for a page.
type listPage[T any] struct {
	Object string
	Data   []T
	Page   struct {
		HasMore    bool    `json:"has_more"`
		NextCursor *string `json:"next_cursor"`
	}
}

func pageOf[T any](t testing.TB, got reply) (p listPage[T]) {
	t.Helper()
	if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.status != 200 || p.Object != "list" || p.Data == nil || p.Page.HasMore != (p.Page.NextCursor != nil) {
		t.Fatalf("%d %v %s", got.status, err, got.body)
	}
	return p
}

// TestLists verifies that pages neither skip nor repeat an item, regardless of the page size and of
// items added in the meantime.
func TestLists(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := new(shelf)
		s.add(random.IntN(40))
		m := muxOf(t, nil, protocol.Route{Pattern: "GET /items", Params: ListParams("of"), Serve: s.serve})

		var adding sync.WaitGroup
		adding.Go(func() {
			for range 20 {
				s.add(3)
			}
		})
		var seen []string
		cursor := ""
		for pages := 0; ; pages++ {
			path := fmt.Sprintf("/items?limit=%d", 1+random.IntN(9))
			if cursor != "" {
				path += "&cursor=" + cursor
			}
			p := pageOf[string](t, ask(m, "GET", path, ""))
			seen = append(seen, p.Data...)
			if !p.Page.HasMore {
				break
			}
			cursor = *p.Page.NextCursor
		}
		adding.Wait()
		for i, item := range seen {
			if item != fmt.Sprint("item_", i) {
				t.Fatalf("seed %d: %q at %d", seed, item, i)
			}
		}
	}
}

// TestPageRules verifies which list requests are accepted and which are rejected.
func TestPageRules(t *testing.T) {
	s := new(shelf)
	s.add(60)
	m := muxOf(t, nil,
		protocol.Route{Pattern: "GET /items", Params: ListParams("of"), Serve: s.serve},
		protocol.Route{Pattern: "GET /others", Params: ListParams(), Serve: s.serve},
	)
	first := ask(m, "GET", "/items?of=a&limit=10", "")
	next := *pageOf[string](t, first).Page.NextCursor
	if again := ask(m, "GET", "/items?limit=10&of=a", ""); again.body != first.body {
		t.Errorf("the same request: %s", again.body)
	}
	gone := protocolCursor(t, "/items?of=a", "item_60")
	for path, want := range map[string]string{
		"/items": "200 50", "/items?limit=200": "200 60", "/items?limit=1": "200 1",
		"/items?limit=0": "400 invalid_request limit", "/items?limit=201": "400 invalid_request limit", "/items?limit=01": "400 invalid_request limit", "/items?limit=-1": "400 invalid_request limit", "/items?limit=": "400 invalid_request limit", "/items?limit=1&limit=1": "400 invalid_request limit", "/items?from=1": "400 invalid_request from", "/items?a;b": "400 invalid_request", "/items?%zz": "400 invalid_request",
		"/items?of=a&cursor=" + next:              "200 50",
		"/items?limit=3&cursor=" + next + "&of=a": "200 3",                      // a different limit is allowed for the same list
		"/items?of=b&cursor=" + next:              "400 invalid_request cursor", // a different filter is not allowed
		"/items?cursor=" + next:                   "400 invalid_request cursor",
		"/others?cursor=" + next:                  "400 invalid_request cursor",
		"/items?of=a&cursor=" + next[1:]:          "400 invalid_request cursor",
		"/items?of=a&cursor=" + gone:              "410 cursor_expired cursor",
	} {
		got := ask(m, "GET", path, "")
		said := got.said()
		if got.status == 200 {
			said = fmt.Sprint("200 ", len(pageOf[string](t, got).Data))
		}
		if said != want {
			t.Errorf("%s: %s, expected %s", path, said, want)
		}
	}
}

// protocolCursor returns a cursor for a position in a list.
func protocolCursor(t testing.TB, list, last string) string {
	t.Helper()
	cursor := protocol.FormatCursor(list, []byte(last))
	if cursor == "" {
		t.Fatal(list, last)
	}
	return cursor
}

// TestItemsAsTheyAre verifies that items are written unchanged, that a missing list is written as
// an empty list, and that a list cannot send a client in circles.
func TestItemsAsTheyAre(t *testing.T) {
	var items []any
	name := "x"
	m := muxOf(t, nil, protocol.Route{Pattern: "GET /", Params: ListParams(), Serve: func(w http.ResponseWriter, r *protocol.Request) error {
		return WriteItems(w, r, items, func(any) string { return name }, nil)
	}})
	if got := ask(m, "GET", "/", ""); got.body != `{"object":"list","data":[],"page":{"has_more":false,"next_cursor":null}}`+"\n" {
		t.Error(got.body)
	}
	items = []any{json.RawMessage(`{"n": 1.0, "t":"<"}`), map[string]int{"m": 2}, 3, 4, 5}
	got := ask(m, "GET", "/?limit=2", "")
	next := protocolCursor(t, "/", "x")
	if got.body != `{"object":"list","data":[{"n": 1.0, "t":"<"},{"m":2}],"page":{"has_more":true,"next_cursor":"`+next+`"}}`+"\n" {
		t.Error(got.body)
	}
	if got := ask(m, "GET", "/?limit=2&cursor="+next, ""); got.said() != "500 internal_error" {
		t.Errorf("in a circle: %s", got.body)
	}
	for _, name = range []string{"", strings.Repeat("x", 256)} {
		if got := ask(m, "GET", "/?limit=2", ""); got.said() != "500 internal_error" {
			t.Errorf("after %.9q: %s", name, got.body)
		}
	}
	items = []any{func() {}}
	if got := ask(m, "GET", "/", ""); got.said() != "500 internal_error" {
		t.Error(got.body)
	}
}

// TestWriteItems verifies that the pages contain each selected item exactly once, even if items are
// added at the end in the meantime.
func TestWriteItems(t *testing.T) {
	items := []string{"a1", "b1", "a2", "b2", "a3"}
	m := muxOf(t, nil, protocol.Route{Pattern: "GET /v1/items", Params: ListParams("of"), Serve: func(w http.ResponseWriter, r *protocol.Request) error {
		return WriteItems(w, r, items, func(item string) string { return item }, func(item string) bool { return strings.HasPrefix(item, r.Query["of"]) })
	}})
	var all []string
	for path := "/v1/items?of=a&limit=1"; path != ""; {
		page := pageOf[string](t, ask(m, "GET", path, "", protocol.VersionHeader, protocol.Version))
		if len(page.Data) != 1 {
			t.Fatalf("%+v", page)
		}
		if all = append(all, page.Data...); len(all) == 1 {
			items = append(items, "b3", "a4")
		}
		if path = ""; page.Page.HasMore {
			path = "/v1/items?of=a&limit=1&cursor=" + *page.Page.NextCursor
		}
	}
	if got := strings.Join(all, " "); got != "a1 a2 a3 a4" {
		t.Errorf("%s", got)
	}

	page := pageOf[string](t, ask(m, "GET", "/v1/items?limit=2", "", protocol.VersionHeader, protocol.Version))
	items = items[3:]
	if got := ask(m, "GET", "/v1/items?limit=2&cursor="+*page.Page.NextCursor, "", protocol.VersionHeader, protocol.Version); got.status != http.StatusGone {
		t.Errorf("%d %s", got.status, got.body)
	}
	items = nil
	if got := ask(m, "GET", "/v1/items", "", protocol.VersionHeader, protocol.Version); !strings.Contains(got.body, `"data":[]`) {
		t.Errorf("%s", got.body)
	}
}

// TestHiddenCursor verifies that the response for a cursor is the same whether the item before it
// is hidden from the client or does not exist.
func TestHiddenCursor(t *testing.T) {
	items := []string{"mine_1", "theirs_1", "mine_2"}
	m := muxOf(t, nil, protocol.Route{Pattern: "GET /v1/items", Params: ListParams(), Serve: func(w http.ResponseWriter, r *protocol.Request) error {
		return WriteItems(w, r, items, func(item string) string { return item }, func(item string) bool { return strings.HasPrefix(item, "mine") })
	}})
	after := func(item string) reply {
		return ask(m, "GET", "/v1/items?cursor="+protocolCursor(t, "/v1/items", item), "", protocol.VersionHeader, protocol.Version)
	}
	for _, item := range []string{"theirs_1", "theirs_2"} {
		if got := after(item); got.said() != "410 cursor_expired cursor" {
			t.Errorf("after %s: %s", item, got.said())
		}
	}
	if page := pageOf[string](t, after("mine_1")); len(page.Data) != 1 || page.Data[0] != "mine_2" {
		t.Errorf("after mine_1: %v", page.Data)
	}
}

// TestLongPages verifies that a page is at most 8 MiB long unless it consists of a single longer
// item, and that pages with long items neither skip nor repeat an item.
func TestLongPages(t *testing.T) {
	type item struct{ ID, Text string }
	var items []item
	for i, size := range []int{1, 9 << 20, 3 << 20, 3 << 20, 3 << 20, 1, 8<<20 - 100, 1, 1} {
		items = append(items, item{fmt.Sprint("item_", i), strings.Repeat("x", size)})
	}
	m := muxOf(t, nil, protocol.Route{Pattern: "GET /items", Params: ListParams(), Serve: func(w http.ResponseWriter, r *protocol.Request) error {
		return WriteItems(w, r, items, func(i item) string { return i.ID }, nil)
	}})

	var sizes []int
	for seen, cursor := 0, ""; ; {
		got := ask(m, "GET", "/items?limit=200"+cursor, "")
		p := pageOf[item](t, got)
		for _, i := range p.Data {
			if i != items[seen] {
				t.Fatalf("%s at the place of %s", i.ID, items[seen].ID)
			}
			seen++
		}
		if len(got.body) > 8<<20+1000 && len(p.Data) > 1 {
			t.Errorf("a page of %d items has %d bytes", len(p.Data), len(got.body))
		}
		if sizes = append(sizes, len(p.Data)); !p.Page.HasMore {
			break
		}
		cursor = "&cursor=" + *p.Page.NextCursor
	}
	if fmt.Sprint(sizes) != "[1 1 2 2 3]" {
		t.Errorf("pages of %v items", sizes)
	}
}
