package feed_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/harness/feed"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A diary is a log that keeps events in memory. A real harness would use a file.
type diary struct {
	feed.Bell
	mu     sync.Mutex
	events []feed.Event
}

func (d *diary) write(kind, payload string) {
	d.mu.Lock()
	n := len(d.events) + 1
	text := fmt.Appendf(nil, `{"id":"%d","object":"event","event":%q,"sequence":%[1]d,"payload":%[3]s}`, n, kind, payload)
	d.events = append(d.events, feed.Event{ID: fmt.Sprint(n), Kind: kind, JSON: text})
	d.mu.Unlock()
	d.Ring() // ring only after the event can be read
}

func (d *diary) Appended() <-chan struct{} { return d.Rung() }

func (d *diary) After(_ context.Context, id string, limit int) ([]feed.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := 0
	if id != "" {
		if _, err := fmt.Sscan(id, &from); err != nil || from < 1 || from > len(d.events) {
			return nil, feed.ErrGone
		}
	}
	page := d.events[from:min(from+limit, len(d.events))]
	if from+len(page) == len(d.events) && d.events[len(d.events)-1].Kind == "task.completed" {
		return page, io.EOF // no events follow the event that completes a task
	}
	return page, nil
}

func ExampleWriteStream() {
	d := new(diary)
	d.write("task.started", `{}`)
	d.write("task.completed", `{"beans":"watered"}`)
	m, err := protocol.NewMux(protocol.Options{
		Routes: []protocol.Route{{Pattern: "GET /v1/tasks/{task_id}/stream", Scope: protocol.EventsRead,
			Serve: func(w http.ResponseWriter, r *protocol.Request) error { return feed.WriteStream(w, r, d) }}},
		Now: time.Now, Random: rand.Reader, Public: true,
	})
	if err != nil {
		panic(err)
	}
	for _, last := range []string{"1", "7"} {
		r := httptest.NewRequest("GET", "/v1/tasks/t/stream", nil)
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		r.Header.Set("Last-Event-ID", last)
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		text, _, _ := strings.Cut(w.Body.String(), `,"type"`)
		fmt.Println(strings.TrimSpace(text))
	}
	// Output:
	// id: 2
	// event: task.completed
	// data: {"id":"2","object":"event","event":"task.completed","sequence":2,"payload":{"beans":"watered"}}
	// event: error
	// data: {"error":{"code":"cursor_expired","message":"the item of this cursor no longer exists; start without a cursor"
}
