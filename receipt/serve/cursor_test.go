package serve_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
)

// nextCursor is the cursor of an answer, "" for none.
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

// TestCursors: a cursor that no list ever gave is refused, one whose place is gone is
// gone, and each character of one has one meaning.
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
		t.Errorf("the page behind: %d %s", got.status, got.body)
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

// endless is a source that says that there is always more.
type endless struct{ *shelf }

func (e endless) ByTask(ctx context.Context, q serve.TaskQuery) ([]serve.Stored, bool, error) {
	page, _, err := e.shelf.ByTask(ctx, serve.TaskQuery{Reach: protocol.Everything(), Task: q.Task, Limit: 1})
	return page, true, err
}

// TestEndlessList: a source cannot lead a client in a circle.
func TestEndlessList(t *testing.T) {
	o := options(t)
	o.Source = endless{library(t)}
	h := start(t, o)
	next := nextCursor(t, h.get("/v1/tasks/t/receipts", version()...))
	for _, path := range []string{"/v1/tasks/t/receipts?cursor=" + next, "/v1/tasks/nobody/receipts"} {
		if got := h.get(path, version()...); got.status != 500 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
