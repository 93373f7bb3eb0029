package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// unread sends a request as a client that does not read the response until gate is closed.
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

// TestUnreadAnswers verifies that unread responses use at most the permitted memory, that no client
// uses all of it, and that the memory is released.
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

// TestStoredAnswer verifies that, if a log stores the response to a request, a repeated request
// gets the response from the log, and the response occupies no memory. This must hold for a
// response of any length, and even if the handler failed after writing it to the log.
func TestStoredAnswer(t *testing.T) {
	memory := &Memory{Bytes: 1 << 20}
	log, reads := map[string]string{}, 0
	m := muxOf(t, func(o *Options) { o.Memory = memory }, Route{Pattern: "POST /{id}", Serve: func(w http.ResponseWriter, r *Request) error {
		id := r.PathValue("id")
		if _, done := log[id]; done {
			t.Errorf("%s is done twice", id)
		}
		log[id] = strings.Repeat(id[:1], maxAnswer+1)
		memory.Remember(r.Use, 201, func() any { reads++; return log[id] }, noon(), noon())
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
