package protocol

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/receiptkit/receiptkit/internal/conn"
)

// streaming is a handler for a stream that ends after one word.
func streaming(w http.ResponseWriter, r *Request) error {
	_, end, err := r.Stream()
	if err != nil {
		return err
	}
	defer end()
	_, err = io.WriteString(w, "begun")
	return err
}

// TestStreamPlaces verifies that a stream releases its request slot, that one client can use at
// most half of the stream slots, and that a slot becomes free when its stream ends.
func TestStreamPlaces(t *testing.T) {
	begun := make(chan struct{})
	m := muxOf(t, func(o *Options) { o.Limits.Requests = 2 }, Route{Pattern: "GET /v1/stream", Serve: func(w http.ResponseWriter, r *Request) error {
		s, end, err := r.Stream()
		if err != nil {
			return err
		}
		defer end()
		begun <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-s.Closing:
		}
		return WriteJSON(w, 200, "ended")
	}})
	m.streams = conn.NewShares(8)
	open := func(ctx context.Context) (ended chan int) {
		r := httptest.NewRequestWithContext(ctx, "GET", "/v1/stream", nil)
		r.Header.Set(VersionHeader, Version)
		ended = make(chan int, 1)
		go func() {
			w := httptest.NewRecorder()
			m.ServeHTTP(w, r)
			ended <- w.Code
		}()
		return ended
	}
	for range 20 {
		ctx, leave := context.WithCancel(t.Context())
		var ended []chan int
		for range 4 {
			ended = append(ended, open(ctx))
			<-begun
		}
		if got := ask(m, "GET", "/v1/stream", ""); got.said() != "503 service_unavailable" || got.header.Get("Retry-After") == "" {
			t.Errorf("a fifth: %d %s", got.status, got.body)
		}
		leave()
		for _, code := range ended {
			if got := <-code; got != 200 {
				t.Errorf("a stream ends with %d", got)
			}
		}
	}

	last := open(t.Context())
	<-begun
	m.Close()
	if got := <-last; got != 200 {
		t.Errorf("a closed Mux ends a stream with %d", got)
	}
	if got := ask(m, "GET", "/v1/stream", ""); got.said() != "503 service_unavailable" {
		t.Errorf("after Close: %d %s", got.status, got.body)
	}
}
