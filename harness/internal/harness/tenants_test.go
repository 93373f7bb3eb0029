package harness_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// bearerTokens is an external authenticator that maps each token to its workspaces; nil means all
// workspaces.
type bearerTokens struct{ byToken sync.Map }

func (b *bearerTokens) Authenticate(r *http.Request) (*protocol.Client, error) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	workspaces, known := b.byToken.Load(token)
	if !known {
		return nil, &protocol.Error{Code: protocol.CodeAuth, Message: "unknown token"}
	}
	reach := protocol.Everything()
	if list := workspaces.([]string); list != nil {
		reach = reach.OfWorkspaces(list...)
	}
	return &protocol.Client{Name: token, Actor: sha256.Sum256([]byte(token)), AllScopes: true, Reach: reach}, nil
}

// A tenancy contains the IDs of the resources that one tenant created, indexed by the names of path
// parameters.
type tenancy map[string]string

// work performs every action that a tenant can perform in a workspace. All tenants use the same
// Idempotency-Key.
func work(c *client, marker string) tenancy {
	c.t.Helper()
	key := []string{"Idempotency-Key", "same"}
	c.session = c.post("/v1/sessions", 201, object{"workspace_id": c.workspace, "metadata": object{"of": marker}}, key...)["id"].(string)
	said := c.post("/v1/sessions/"+c.session+"/messages", 201, object{"message": message(marker)}, key...)
	other := c.post("/v1/tasks", 202, object{"session_id": c.session, "input": message(marker)}, key...)["id"].(string) // only the actor distinguishes this request from the requests of other tenants
	c.reach(other, "COMPLETED")
	task := c.submit(marker, key...)
	if again := c.submit(marker, key...); again != task {
		c.t.Errorf("the repeated task is %s, not %s", again, task)
	}
	done := c.reach(task, "COMPLETED")
	r := c.receipt(task)
	events := c.list("/v1/tasks/" + task + "/events?limit=200")
	return tenancy{
		"workspace_id": c.workspace, "session_id": c.session, "message_id": said["id"].(string), "task_id": task,
		"outcome_id": done["outcome_id"].(string), "artifact_id": r.FinalArtifacts[0].ArtifactID,
		"event_id": events[len(events)-1]["id"].(string), "receipt_id": r.ReceiptID,
	}
}

// path replaces the parameters in a path of the API description, and reports whether there are any.
// The parameter {id} is the ID of a receipt or of the resource named by the preceding path segment.
func (w tenancy) path(pattern string) (path string, narrow bool) {
	path = regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllStringFunc(pattern, func(name string) string {
		narrow = true
		switch name = strings.Trim(name, "{}"); {
		case name == "id" && strings.HasPrefix(pattern, "/v1/tasks/"):
			name = "task_id"
		case name == "id":
			name = "receipt_id"
		}
		return w[name]
	})
	return path, narrow
}

// requests returns bodies that refer to resources, for requests on the given route.
func (w tenancy) requests(method, pattern string) []any {
	switch {
	case method == "GET":
		return []any{nil}
	case strings.HasSuffix(pattern, "/messages"):
		return []any{object{"message": message("a"), "kind": "input"}}
	case strings.HasSuffix(pattern, "/tasks"):
		return []any{object{"input": message("a"), "session_id": w["session_id"]}}
	case pattern == "/v1/artifacts":
		return []any{object{"kind": "log", "mime_type": "text/plain", "uri": "harn://a", "visibility": "public", "workspace_id": w["workspace_id"]},
			object{"kind": "log", "mime_type": "text/plain", "uri": "harn://a", "visibility": "public", "task_id": w["task_id"], "session_id": w["session_id"]}}
	}
	return []any{object{"workspace_id": w["workspace_id"]}, object{}}
}

// TestTenants verifies that a tenant that authenticates with an external token cannot see another
// tenant's data on any route of the API description. A request for a resource of the other tenant
// must get the same response as a request for a nonexistent resource, and no other response may
// contain data of the other tenant.
func TestTenants(t *testing.T) {
	const theirMarker = "loganberry"
	auth := new(bearerTokens)
	o := options(t, t.TempDir())
	o.Auth, o.Public = auth, false
	_, c := start(t, o)
	auth.byToken.Store("operator", []string(nil))
	c.key = "operator"
	tenants, workspaces := map[string]tenancy{}, map[string]string{}
	for _, name := range []string{"ours", "theirs"} {
		workspaces[name] = c.post("/v1/workspaces", 201, object{"name": "of " + name, "root": "harn://" + name})["id"].(string)
		auth.byToken.Store(name, []string{workspaces[name]})
	}
	for name, marker := range map[string]string{"ours": "mulberry", "theirs": theirMarker} {
		c.key, c.workspace = name, workspaces[name]
		tenants[name] = work(c, marker)
	}
	theirs, absent := tenants["theirs"], tenancy{}
	for name, id := range theirs {
		absent[name] = id + "0"
	}
	for name, id := range tenants["ours"] {
		if id == theirs[name] {
			t.Errorf("both tenants have the %s %s", name, id)
		}
	}

	c.key = "theirs"
	paths := c.get("/openapi.json")["paths"].(map[string]any)
	asked, seen := 0, 0
	for pattern, methods := range paths {
		for method := range methods.(map[string]any) {
			if method = strings.ToUpper(method); method == "PARAMETERS" {
				continue
			}
			own, narrow := theirs.path(pattern)
			other, _ := absent.path(pattern)

			c.key = "theirs"
			if method == "GET" && theirs.in(c.answer(method, own, nil), theirMarker) {
				seen++
			}

			// Each request is compared with the same request for a nonexistent resource.
			c.key = "ours"
			bodies := absent.requests(method, pattern)
			for i, body := range theirs.requests(method, pattern) {
				got := c.answer(method, own, body)
				if theirs.in(got, theirMarker) {
					t.Errorf("%s %s: something of the other tenant:\n%.400s", method, own, got)
				}
				if want := c.answer(method, other, bodies[i]); (narrow || method != "GET" && pattern != "/v1/verify") && got != want {
					t.Errorf("%s %s with %v:\n%.400s\nexpected\n%.400s", method, own, body, got, want)
				}
				asked++
			}
			for _, name := range []string{"workspace_id", "session_id", "task_id"} {
				if method != "GET" || narrow || strings.HasSuffix(pattern, "/stream") {
					continue
				}
				if got, want := c.answer(method, own+"?"+name+"="+theirs[name], nil), c.answer(method, own+"?"+name+"="+absent[name], nil); got != want {
					t.Errorf("%s by %s:\n%.400s\nexpected\n%.400s", pattern, name, got, want)
				}
			}
		}
	}
	if asked < 45 || seen < 18 {
		t.Errorf("%d requests, and %d answers to the other tenant", asked, seen)
	}
}

// in reports whether a response contains the marker or an ID that belongs to a tenant. Event IDs
// are not considered, because they are short and may be substrings of other IDs.
func (w tenancy) in(answer, marker string) bool {
	for name, id := range w {
		if name != "event_id" && strings.Contains(answer, id) {
			return true
		}
	}
	return strings.Contains(answer, marker)
}

// answer returns the status and the body of a response, without the parts that differ in every
// response. If the response is a stream, answer returns the beginning of the stream.
func (c *client) answer(method, path string, body any) string {
	c.t.Helper()
	if strings.HasSuffix(path, "/stream") {
		return differs.ReplaceAllString(string(c.streamed(path)), "-")
	}
	status, text := c.do(method, path, body)
	return fmt.Sprint(status, " ", differs.ReplaceAllString(string(text), "-"))
}

var differs = regexp.MustCompile(`"request_id":"[0-9a-f]{16}"|"(started|finished)":"[^"]*"`)
