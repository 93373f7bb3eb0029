package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
)

// nextCursor returns the cursor in a response, or "" if there is none.
func nextCursor(t testing.TB, got reply) string {
	t.Helper()
	var page struct {
		Page struct {
			NextCursor *string `json:"next_cursor"`
		}
	}
	if err := json.Unmarshal(got.body, &page); err != nil || got.status != 200 {
		t.Fatalf("%d %v %.300s", got.status, err, got.body)
	}
	if page.Page.NextCursor == nil {
		return ""
	}
	return *page.Page.NextCursor
}

// TestCursors verifies that a cursor is rejected if no list returned it or if any of its characters
// changed, and that it has expired if its position no longer exists.
func TestCursors(t *testing.T) {
	list := servetest.Receipts(t, 4)
	serving := func(texts ...[]byte) *host {
		o := options(t)
		o.Source = openFiles(t, map[string][]byte{"a.jsonl": servetest.Lines(texts...)})
		return start(t, o)
	}
	h := serving(append(list, servetest.Receipt(t, "x", "u", "u"))...)
	next := nextCursor(t, h.get("/v1/tasks/t/receipts?limit=3", version()...))
	if len(next) != 66 {
		t.Fatalf("%q", next)
	}
	if got := h.get("/v1/tasks/t/receipts?cursor="+next, version()...); nextCursor(t, got) != "" || strings.Count(string(got.body), `"payload":`) != 1 {
		t.Errorf("the next page: %d %s", got.status, got.body)
	}
	got := serving(list[:2]...).get("/v1/tasks/t/receipts?cursor="+next, version()...)
	if got.status != 410 || got.code() != "cursor_expired" || got.param() != "cursor" || !strings.Contains(string(got.body), `"type":"not_found_error"`) {
		t.Errorf("the receipt is gone: %d %s", got.status, got.body)
	}
	if got := h.get("/v1/tasks/u/receipts?cursor="+next, version()...); got.status != 400 || got.code() != "invalid_request" {
		t.Errorf("of another task: %d %s", got.status, got.body)
	}
	for _, bad := range []string{"x", "AAAA", next[1:], next + "A", next + "=", next + "%0a", "%0d%0a" + next, strings.ToUpper(next), strings.Repeat("A", 66), strings.Repeat("A", 512)} {
		if got := h.get("/v1/tasks/t/receipts?cursor="+bad, version()...); got.status != 400 || got.param() != "cursor" {
			t.Errorf("%q: %d %s", bad, got.status, got.body)
		}
	}
	for i := range next {
		c := byte('A')
		if next[i] == c {
			c = 'B'
		}
		changed := next[:i] + string(c) + next[i+1:]
		if got := h.get("/v1/tasks/t/receipts?cursor="+changed, version()...); got.status != 400 && got.status != 410 {
			t.Errorf("changed at %d: %d %s", i, got.status, got.body)
		}
	}
}

// An endless value is a source that always reports that there are more receipts.
type endless struct{ *shelf }

func (e endless) ByTask(ctx context.Context, q serve.TaskQuery) ([]serve.Stored, bool, error) {
	page, _, err := e.shelf.ByTask(ctx, serve.TaskQuery{Reach: protocol.Everything(), Task: q.Task, Limit: 1})
	return page, true, err
}

// TestEndlessList verifies that a faulty source cannot make a client request pages in an endless
// loop.
func TestEndlessList(t *testing.T) {
	o := options(t)
	o.Source = endless{library(t)}
	h := start(t, o)
	next := nextCursor(t, h.get("/v1/tasks/t/receipts?limit=1", version()...))
	for _, path := range []string{"/v1/tasks/t/receipts", "/v1/tasks/t/receipts?limit=1&cursor=" + next, "/v1/tasks/t/receipts?cursor=" + next, "/v1/tasks/nobody/receipts"} {
		if got := h.get(path, version()...); got.status != 500 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// TestLongList verifies that a page of receipts is at most 8 MiB long unless it consists of a
// single longer receipt. Pages must neither skip nor repeat a receipt.
func TestLongList(t *testing.T) {
	shelf, all := newShelf(), 0
	for i, size := range []int{10, 9 << 20, 10, 3 << 20, 3 << 20, 3 << 20, 10, 10, 10} {
		id := fmt.Sprint("receipt_", i)
		text := servetest.Receipt(t, id, "t", "w")
		text = bytes.Replace(text, []byte("{"), append([]byte("{"), bytes.Repeat([]byte(" "), size)...), 1)
		shelf.put("t", id, text)
		all++
	}
	o := options(t)
	o.Source = shelf
	h := start(t, o)
	var sizes []int
	for seen, cursor := 0, ""; ; {
		got := h.get("/v1/tasks/t/receipts?limit=200"+cursor, version()...)
		next := nextCursor(t, got)
		var page struct{ Data []struct{ ID string } }
		if err := json.Unmarshal(got.body, &page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Data {
			if want := fmt.Sprint("receipt_", seen); r.ID != want {
				t.Fatalf("%s at the place of %s", r.ID, want)
			}
			seen++
		}
		if len(got.body) > 8<<20+1<<20 && len(page.Data) > 1 {
			t.Errorf("a page of %d receipts has %d bytes", len(page.Data), len(got.body))
		}
		if sizes = append(sizes, len(page.Data)); next == "" {
			if seen != all {
				t.Errorf("%d receipts of %d", seen, all)
			}
			break
		}
		cursor = "&cursor=" + next
	}
	if len(sizes) != 4 {
		t.Errorf("pages of %v receipts", sizes)
	}
}

// An unreadAnswer is the response for a client that does not read until gate is closed.
type unreadAnswer struct {
	*httptest.ResponseRecorder
	gate, writing chan struct{}
}

func (w *unreadAnswer) Write(p []byte) (int, error) {
	w.writing <- struct{}{}
	<-w.gate
	return w.ResponseRecorder.Write(p)
}

// TestUnreadReceipts verifies that unread receipts use at most the permitted memory, and that this
// memory is released.
func TestUnreadReceipts(t *testing.T) {
	shelf := newShelf()
	shelf.put("t", "r", bytes.Replace(servetest.Receipt(t, "r", "t", "w"), []byte("{"), append([]byte("{"), bytes.Repeat([]byte(" "), 1<<20)...), 1))
	o := options(t)
	o.Source, o.Limits.Memory = shelf, 8<<20
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	gate, held := make(chan struct{}), 0
	ask := func() (w *unreadAnswer, ended chan struct{}) {
		w, ended = &unreadAnswer{httptest.NewRecorder(), gate, make(chan struct{}, 100)}, make(chan struct{})
		r := httptest.NewRequest("GET", "/v1/receipts/r", nil)
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		go func() { s.ServeHTTP(w, r); close(ended) }()
		<-w.writing
		return w, ended
	}
	var waiting []chan struct{}
	for range 16 {
		w, ended := ask()
		if waiting = append(waiting, ended); w.Code == 200 {
			held++
		}
	}
	if held < 2 || held > 4 {
		t.Errorf("one client holds %d answers of 1 MiB, of 8 MiB for all", held)
	}
	close(gate)
	for _, ended := range waiting {
		<-ended
	}
	if w, ended := ask(); w.Code != 200 {
		t.Errorf("%d when all was read", w.Code)
		<-ended
	}
}
