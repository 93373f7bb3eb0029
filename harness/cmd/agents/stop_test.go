package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestStopped verifies that the program shuts down normally while a client keeps a stream open
// without reading it.
func TestStopped(t *testing.T) {
	t.Parallel()
	p := start(t, "-data", t.TempDir())
	ask := func(method, path string, body any) (answer struct {
		ID   string
		Data []struct{ ID string }
	}) {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequest(method, p.url+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		r.Header.Set("Authorization", "Bearer "+p.key)
		r.Header.Set("Content-Type", protocol.MediaJSON)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if err := json.NewDecoder(a.Body).Decode(&answer); err != nil || a.StatusCode > 299 {
			t.Fatal(a.Status, err)
		}
		return answer
	}

	host := strings.TrimPrefix(p.url, "http://")
	deaf, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	if err := deaf.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil { // small buffers fill up quickly
		t.Fatal(err)
	}
	fmt.Fprintf(deaf, "GET /v1/events/stream HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s: %s\r\n\r\n", host, p.key, protocol.VersionHeader, protocol.Version)

	workspace := ask("GET", "/v1/workspaces", nil).Data[0].ID
	session := ask("POST", "/v1/sessions", map[string]string{"workspace_id": workspace}).ID
	message := map[string]any{"message": map[string]any{"role": "user", "parts": []any{map[string]string{"type": "text", "visibility": "public", "text": strings.Repeat("x", 500_000)}}}}
	for range 16 {
		ask("POST", "/v1/sessions/"+session+"/messages", message)
	}
	p.endedBy(t, os.Interrupt)
}
