package protocol

import (
	"net/http"
	"strings"
	"testing"
)

// TestVisible verifies which parts each client sees if nested objects have a visibility.
func TestVisible(t *testing.T) {
	nobody := new(Client)
	inside := &Client{Scopes: []Scope{InternalRead}}
	all := anyone()
	for _, c := range []struct {
		text                string
		nobody, inside, all string // "" if the text is unchanged
	}{
		{`{"a":1,"b":[true,null,"x"]}`, "", "", ""},
		{`[{"visibility":"public","x":1}]`, "", "", ""},
		{`[{"visibility":"internal","x":1},2]`, `[2]`, "", ""},
		{`[{"x":1},{"visibility":"receipt_only"},{"visibility":"internal"}]`, `[{"x":1}]`, `[{"x":1},{"visibility":"internal"}]`, ""},
		{`[{"visibility":"later"}]`, `[]`, `[]`, ""},
		{`[{"visibility":7},{"visibility":null}]`, "", "", ""}, // other values are ignored
		{`[{"visibilit\u0079":"internal"}]`, `[]`, "", ""},
		{`[{"visibility":"receipt\u005fonly"}]`, `[]`, `[]`, ""},
		{`{"id":"a","object":"artifact","visibility":"receipt_only","uri":"u","metadata":{"id":"b"}}`, `{"id":"a","object":"artifact","visibility":"receipt_only"}`, `{"id":"a","object":"artifact","visibility":"receipt_only"}`, ""},
		{`{"payload":{"artifact_id":"a","visibility":"internal"},"z":[]}`, `{"payload":{"visibility":"internal"},"z":[]}`, "", ""},
		{`{"id":{"secret":1},"visibility":"internal"}`, `{"visibility":"internal"}`, "", ""},
		{`{"parts":[{"visibility":"public","value":[{"visibility":"internal","parts":[{"visibility":"public"}]}]}]}`, `{"parts":[{"visibility":"public","value":[]}]}`, "", ""},
		{"{\"a\":[{\"visibility\":\"internal\"}]}\n", "{\"a\":[]}\n", "", ""},
	} {
		for want, client := range map[*string]*Client{&c.nobody: nobody, &c.inside: inside, &c.all: all} {
			if *want == "" {
				*want = c.text
			}
			if got, err := client.Visible([]byte(c.text)); err != nil || string(got) != *want {
				t.Errorf("%s, %v: got %s, %v; want %s", c.text, client.Scopes, got, err, *want)
			}
		}
	}

	if got, err := nobody.Visible([]byte(`{"visibility":"internal"`)); err == nil || got != nil {
		t.Errorf("a text that is not JSON: %s, %v", got, err)
	}
}

// TestMuxReduces verifies that responses of every kind omit the parts that the client may not see.
func TestMuxReduces(t *testing.T) {
	const value = `{"id":"one","parts":[{"visibility":"internal","text":"redcurrant"}]}`
	raw := []byte(value)
	keys, bearer := keysOf(t, map[string]string{"all": "", "some": `,"scopes":["tasks:read"]`})
	item := map[string]any{"id": "one", "parts": []any{map[string]any{"visibility": "internal", "text": "redcurrant"}}}
	routes := []Route{
		{Pattern: "GET /v1/json", Serve: func(w http.ResponseWriter, r *Request) error { return WriteJSON(w, 200, item) }},
		{Pattern: "GET /v1/raw", Serve: func(w http.ResponseWriter, r *Request) error {
			return Write(w, 200, MediaJSON, raw)
		}},
		{Pattern: "POST /v1/json", Serve: func(w http.ResponseWriter, r *Request) error { return WriteJSON(w, 201, item) }},
	}
	m := muxOf(t, func(o *Options) { o.Auth = keys }, routes...)
	for _, c := range []struct{ method, path, key string }{
		{"GET", "/v1/json", ""}, {"GET", "/v1/raw", ""},
		{"POST", "/v1/json", ""}, {"POST", "/v1/json", "k"}, {"POST", "/v1/json", "k"}, // the second response for the key k is a remembered response
	} {
		body := ""
		if c.method == "POST" {
			body = "{}"
		}
		for name, sees := range map[string]bool{"all": true, "some": false} {
			headers := []string{"Authorization", bearer[name]}
			if c.key != "" {
				headers = append(headers, "Idempotency-Key", c.key)
			}
			got := ask(m, c.method, c.path, body, headers...)
			if got.status >= 300 || strings.Contains(got.body, "redcurrant") != sees || !strings.Contains(got.body, `"one"`) {
				t.Errorf("%s %s, %s: %d %s", c.method, c.path, name, got.status, got.body)
			}
		}
	}
}
