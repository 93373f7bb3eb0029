package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestLongPages verifies that a page of a list has at most 8 MiB or consists of one longer item,
// and that pages of long items neither skip nor repeat an item.
func TestLongPages(t *testing.T) {
	type item struct{ ID, Text string }
	var items []item
	for i, size := range []int{1, 9 << 20, 3 << 20, 3 << 20, 3 << 20, 1, 8<<20 - 100, 1, 1} {
		items = append(items, item{fmt.Sprint("item_", i), strings.Repeat("x", size)})
	}
	m := muxOf(t, nil, Route{Pattern: "GET /items", Params: ListParams(), Serve: func(w http.ResponseWriter, r *Request) error {
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

// unread sends a request of a client that does not read the answer until gate is closed.
func unread(m http.Handler, path, address string, gate chan struct{}) (w *stuckWriter, ended chan struct{}) {
	w = &stuckWriter{ResponseRecorder: httptest.NewRecorder(), gate: gate, writing: make(chan struct{}, 1000)}
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set(VersionHeader, Version)
	r.RemoteAddr = address + ":1"
	ended = make(chan struct{})
	go func() { m.ServeHTTP(w, r); close(ended) }()
	select {
	case <-w.writing:
	case <-ended:
	case <-time.After(5 * time.Second):
	}
	return w, ended
}

// TestUnreadAnswers verifies that answers that clients do not read use at most the permitted
// memory, that no client uses all of it, and that it is released.
func TestUnreadAnswers(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 1<<20)
	m := muxOf(t, func(o *Options) { o.Limits.Memory = 16 << 20 }, Route{Pattern: "GET /long", Serve: func(w http.ResponseWriter, r *Request) error {
		return Write(w, 200, "text/plain", body)
	}})
	gate := make(chan struct{})
	var waiting []chan struct{}
	held := map[string]int{}
	for range 40 {
		for _, client := range []string{"192.0.2.1", "192.0.2.2"} {
			w, ended := unread(m, "/long", client, gate)
			if waiting = append(waiting, ended); w.Code == 200 {
				held[client]++
			}
		}
	}
	if held["192.0.2.1"]+held["192.0.2.2"] >= 16 || held["192.0.2.1"] < 5 || held["192.0.2.2"] < 4 {
		t.Errorf("%v answers of 1 MiB are held, of 16 MiB", held)
	}
	if w, _ := unread(m, "/long", "192.0.2.3", gate); w.Code != 200 {
		t.Errorf("another client is answered %d", w.Code)
	}

	close(gate)
	for _, ended := range waiting {
		<-ended
	}
	for range 40 {
		if got := ask(m, "GET", "/long", ""); got.status != 200 {
			t.Fatal(got.status, "when all was read")
		}
	}
}

// TestUnreadStreams verifies that a stream waits while streams that clients do not read use up the
// memory for pages, and continues when they have ended.
func TestUnreadStreams(t *testing.T) {
	long := Event{ID: "event_1", Kind: "x", JSON: json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)}
	m := muxOf(t, func(o *Options) { o.Limits.Memory = 2 << 20 }, Route{Pattern: "GET /stream", Serve: func(w http.ResponseWriter, r *Request) error {
		return WriteStream(w, r, oneEvent{long})
	}})
	gate := make(chan struct{})
	_, first := unread(m, "/stream", "192.0.2.1", gate)
	waits := &stuckWriter{ResponseRecorder: httptest.NewRecorder(), gate: gate, writing: make(chan struct{}, 1000)}
	second := make(chan struct{})
	go func() {
		r := httptest.NewRequest("GET", "/stream", nil)
		r.Header.Set(VersionHeader, Version)
		r.RemoteAddr = "192.0.2.1:2"
		m.ServeHTTP(waits, r)
		close(second)
	}()
	select {
	case <-waits.writing:
		t.Error("both streams of one client hold a page")
	case <-time.After(300 * time.Millisecond):
	}
	close(gate)
	<-first
	<-second
	if !strings.Contains(waits.Body.String(), "event_1") {
		t.Error("the second stream has no event")
	}
}

// oneEvent is a log of one event.
type oneEvent struct{ event Event }

func (l oneEvent) Appended() <-chan struct{} { return nil }

func (l oneEvent) After(_ context.Context, id string, _ int) ([]Event, error) {
	if id != "" {
		return nil, io.EOF
	}
	return []Event{l.event}, io.EOF
}

// TestStoredAnswer verifies that an answer stored in a log is read from the log when the request is
// repeated, regardless of its length and even if the handler failed after writing it, and that no
// memory holds it.
func TestStoredAnswer(t *testing.T) {
	memory := NewMemory(MemoryLimits{Bytes: 1 << 20})
	log, reads := map[string]string{}, 0
	m := muxOf(t, func(o *Options) { o.Memory = memory }, Route{Pattern: "POST /{id}", Serve: func(w http.ResponseWriter, r *Request) error {
		id := r.PathValue("id")
		if _, done := log[id]; done {
			t.Errorf("%s is done twice", id)
		}
		log[id] = strings.Repeat(id[:1], MaxAnswer+1)
		memory.Remember(r.Use(), StoredAnswer(201, func() any { reads++; return log[id] }), noon(), noon())
		if id == "b" {
			return errors.New("the disk is gone")
		}
		return WriteJSON(w, 201, log[id])
	}})
	for i := range 60 {
		id := fmt.Sprint("a", i)
		first := ask(m, "POST", "/"+id, "{}", IdempotencyHeader, "k")
		again := ask(m, "POST", "/"+id, "{}", IdempotencyHeader, "k")
		if first.status != 201 || again.status != 201 || first.body != again.body || reads != i+1 {
			t.Fatalf("%s: %d, and again %d; read %d times", id, first.status, again.status, reads)
		}
	}
	if memory.bytes > 60*4096 {
		t.Errorf("%d bytes hold 60 answers that the log has", memory.bytes)
	}
	if first, again := ask(m, "POST", "/b", "{}", IdempotencyHeader, "k"), ask(m, "POST", "/b", "{}", IdempotencyHeader, "k"); first.status != 500 || again.status != 201 {
		t.Errorf("%d, and again %d", first.status, again.status)
	}
}
