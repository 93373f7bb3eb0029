package protocol

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzQuery verifies that each parameter in an accepted query is known, occurs once, and is not
// empty.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "limit=1", "limit=1&cursor=x", "a=b", "limit=1&limit=2", "limit=", "a;b", "%zz", "limit=%00"} {
		f.Add(seed)
	}
	known := []string{"limit", "cursor", "workspace_id"}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := parseQuery(raw, known)
		if err != nil {
			if q != nil || errorOf(err).status() != 400 || len(err.Error()) > 1000 {
				t.Errorf("%q: %v with %v", raw, q, err)
			}
			return
		}
		for name, value := range q {
			if value == "" || !strings.Contains(strings.Join(known, " "), name) {
				t.Errorf("%q: %s=%q", raw, name, value)
			}
		}
		if n, err := q.Number("limit", 1, 200, 50); err == nil && (n < 1 || n > 200) {
			t.Errorf("%q: a limit of %d", raw, n)
		}
	})
}

// FuzzHeaders verifies that no client header causes a panic or admits a client without a version,
// and that the response is always an error envelope.
func FuzzHeaders(f *testing.F) {
	f.Add(Version, "Bearer rk_x", "key", "application/json", "e1", "/v1/tasks/t?limit=1", `{"a":1}`)
	f.Add("", "", "", "", "", "/v1/%2f", "")
	f.Fuzz(func(t *testing.T, version, auth, key, media, last, path, body string) {
		if !strings.HasPrefix(path, "/") || !parses(path) {
			return
		}
		m := muxOf(t, nil,
			Route{Pattern: "/v1/tasks/{id}", Params: []string{"limit", "cursor"}, Body: BodyOptional, Serve: says("x")},
			Route{Pattern: "GET /v1/stream", Serve: streaming},
		)
		for _, method := range []string{"GET", "POST"} {
			got := askRaw(m, method, path, body, http.Header{"Harn-Agents-Protocol-Version": {version}, "Authorization": {auth}, "Idempotency-Key": {key}, "Content-Type": {media}, "Last-Event-Id": {last}})
			if version != Version && got.status != 426 && got.status != 400 {
				t.Errorf("%s %q: %d without the version", method, path, got.status)
			}
			if got.status >= 400 && !strings.HasPrefix(got.body, `{"error":{"code":`) || got.status >= 500 {
				t.Errorf("%s %q: %d %s", method, path, got.status, got.body)
			}
		}
	})
}
