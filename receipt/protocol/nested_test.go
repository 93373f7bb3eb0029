package protocol

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestNested verifies that a Mux inside another Mux responds to each request on a connection, and
// treats none of them as if the client had disconnected.
func TestNested(t *testing.T) {
	below := muxOf(t, nil, Route{Pattern: "/v1/", Body: BodyOptional, Serve: func(w http.ResponseWriter, r *Request) error {
		select {
		case <-r.Context().Done():
			return context.Cause(r.Context())
		case <-time.After(time.Millisecond):
			_, err := io.WriteString(w, "ok")
			return err
		}
	}})
	streamed := muxOf(t, nil, Route{Pattern: "/v1/", Body: BodyStream, Serve: plain(below)})
	whole := muxOf(t, nil, Route{Pattern: "/v1/", Body: BodyBytes, Again: true, Serve: plain(below)})
	for name, above := range map[string]http.Handler{
		"a stream": streamed, "whole": whole,
		"wrapped": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, io.NopCloser(r.Body), 1<<20)
			below.ServeHTTP(w, r)
		}),
	} {
		t.Run(name, func(t *testing.T) { askOften(t, above) })
	}
}

// askOften sends several requests over one connection.
func askOften(t *testing.T, h http.Handler) {
	server := httptest.NewServer(h)
	defer server.Close()
	for n := range 100 {
		method, body := http.MethodGet, ""
		if n%3 > 0 {
			method, body = http.MethodPost, "{}"
		}
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/v1/receipts", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(VersionHeader, Version)
		if n%3 == 1 { // without a Content-Type, the body of a POST request is rejected without being read
			request.Header.Set("Content-Type", MediaJSON)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if want := []int{200, 200, 415}[n%3]; err != nil || response.StatusCode != want {
			t.Fatalf("request %d of the connection: %d, %v: %s", n+1, response.StatusCode, err, text)
		}
	}
}
