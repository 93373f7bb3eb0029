package wire

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A Route is an operation defined by the protocol. In the path and the body, {name} stands for the
// ID of a resource.
type Route struct {
	Method, Path string
	Answer       string // component of a successful answer, or "" if there is none
	List         bool   // whether a successful answer is a list of that component
	Accept       string // media type to request, or "" for JSON
	Body         string // body of a valid request, or "" if there is none
	Needs        string // capability of the route; a server without the capability may lack the route
	Open         bool   // whether the route requires neither a version nor a key
}

// Words is the text of messages and tasks in request bodies.
const Words = "words of a request that is refused"

// Routes returns the operations defined by the protocol.
func Routes() []Route {
	const message = `{"role":"user","parts":[{"type":"text","text":"` + Words + `","visibility":"public"}]}`
	get, list := http.MethodGet, true
	return []Route{
		{Method: get, Path: "v1", Answer: "Discovery", Open: true},
		{Method: get, Path: "v1/agent-card", Answer: "AgentCard", Open: true},

		{Method: get, Path: "v1/workspaces", Answer: "Workspace", List: list},
		{Method: get, Path: "v1/workspaces/{workspace}", Answer: "Workspace"},
		{Method: "POST", Path: "v1/workspaces", Answer: "Workspace", Body: `{"name":"agents conformance","root":"harn://conformance"}`},
		{Method: "PATCH", Path: "v1/workspaces/{workspace}", Answer: "Workspace", Body: `{"metadata":{"agents":"conformance"}}`},

		{Method: get, Path: "v1/sessions", Answer: "Session", List: list},
		{Method: get, Path: "v1/sessions?workspace_id={workspace}", Answer: "Session", List: list},
		{Method: get, Path: "v1/sessions/{session}", Answer: "Session"},
		{Method: "POST", Path: "v1/sessions", Answer: "Session", Body: `{"workspace_id":"{workspace}"}`},
		{Method: "PATCH", Path: "v1/sessions/{session}", Answer: "Session", Body: `{"summary":"` + Words + `"}`},
		{Method: "POST", Path: "v1/sessions/{session}/close", Answer: "Session", Body: `{}`},
		{Method: "POST", Path: "v1/sessions/{session}/fork", Answer: "Session", Body: `{}`},

		{Method: get, Path: "v1/sessions/{session}/messages", Answer: "Message", List: list},
		{Method: get, Path: "v1/messages/{message}", Answer: "Message"},
		{Method: "POST", Path: "v1/sessions/{session}/messages", Answer: "Message", Body: `{"message":` + message + `}`},

		{Method: get, Path: "v1/tasks", Answer: "Task", List: list},
		{Method: get, Path: "v1/tasks?session_id={session}", Answer: "Task", List: list},
		{Method: get, Path: "v1/sessions/{session}/tasks", Answer: "Task", List: list},
		{Method: get, Path: "v1/tasks/{task}", Answer: "Task"},
		{Method: "POST", Path: "v1/tasks", Answer: "Task", Body: `{"session_id":"{session}","input":` + message + `}`},
		{Method: "POST", Path: "v1/sessions/{session}/tasks", Answer: "Task", Body: `{"input":` + message + `}`},
		{Method: "POST", Path: "v1/tasks/{task}/messages", Answer: "Message", Body: `{"kind":"interrupt","message":` + message + `}`},
		{Method: "POST", Path: "v1/tasks/{task}/cancel", Answer: "Task", Body: `{"reason":"agents conformance"}`},
		{Method: "POST", Path: "v1/tasks/{task}/replay", Answer: "Task", Body: `{"mode":"exact"}`, Needs: "replay"},

		{Method: get, Path: "v1/artifacts", Answer: "Artifact", List: list},
		{Method: get, Path: "v1/artifacts?task_id={task}", Answer: "Artifact", List: list},
		{Method: get, Path: "v1/artifacts/{artifact}", Answer: "Artifact"},
		{Method: get, Path: "v1/artifacts/{artifact}/content"},
		{Method: "POST", Path: "v1/artifacts", Answer: "Artifact", Body: `{"kind":"log","mime_type":"text/plain","uri":"harn://conformance/x.txt","visibility":"public","workspace_id":"{workspace}"}`},

		{Method: get, Path: "v1/outcomes", Answer: "Outcome", List: list},
		{Method: get, Path: "v1/outcomes?task_id={task}", Answer: "Outcome", List: list},
		{Method: get, Path: "v1/outcomes/{outcome}", Answer: "Outcome"},

		{Method: get, Path: "v1/events", Answer: "Event", List: list},
		{Method: get, Path: "v1/events?task_id={task}", Answer: "Event", List: list},
		{Method: get, Path: "v1/sessions/{session}/events", Answer: "Event", List: list},
		{Method: get, Path: "v1/tasks/{task}/events", Answer: "Event", List: list},
		{Method: get, Path: "v1/events/stream", Answer: "Event"},
		{Method: get, Path: "v1/events/stream?task_id={task}", Answer: "Event"},
		{Method: get, Path: "v1/sessions/{session}/events/stream", Answer: "Event"},
		{Method: get, Path: "v1/tasks/{task}/stream", Answer: "Event"},
		{Method: get, Path: "v1/events/{event}", Answer: "Event"},

		{Method: get, Path: "v1/tasks/{task}/receipts", Answer: "Receipt", List: list, Needs: "receipts"},
		{Method: get, Path: "v1/receipts/{receipt}", Answer: "Receipt", Needs: "receipts"},
		{Method: get, Path: "v1/receipts/{receipt}", Accept: MediaReceipt, Needs: "receipts"},
		{Method: get, Path: "v1/receipts/{receipt}", Accept: MediaArchive, Needs: "receipts"},
		{Method: "POST", Path: "v1/receipts/{receipt}/verify", Answer: "Verification", Body: `{}`, Needs: "receipts"},

		{Method: get, Path: "v1/personas", Answer: "Persona", List: list},
		{Method: get, Path: "v1/connectors", Answer: "Connector", List: list},
		{Method: get, Path: "v1/skills", Answer: "Skill", List: list},
		{Method: get, Path: "v1/quotas", Answer: "Quota", List: list},
		{Method: get, Path: "v1/memories", Answer: "Memory", List: list},
		{Method: get, Path: "v1/vaults", Answer: "Vault", List: list},
		{Method: "POST", Path: "v1/vaults", Answer: "Vault", Body: `{"workspace_id":"{workspace}","provider":"conformance-oauth","capabilities":["oauth_refresh"]}`},
		{Method: get, Path: "v1/sessions/{session}/branches", Answer: "Branch", List: list},
		{Method: "POST", Path: "v1/sessions/{session}/branches", Answer: "Branch", Body: `{"kind":"session","base_ref":"main"}`},
	}
}

// These are the media types of a receipt without its resource, of its archive, and of a stream.
const (
	MediaReceipt = "application/vnd.harn.receipt+json"
	MediaArchive = "application/vnd.harn.receipt+cbor"
	mediaStream  = "text/event-stream"
)

// IsStream reports whether the route is a stream of events.
func (r *Route) IsStream() bool { return isStream(r.Path) }

func isStream(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	return strings.HasSuffix(path, "/stream")
}

// Fill returns the request for a route, with the resources in ids. It returns false if one of the
// IDs is missing.
func (r *Route) Fill(ids map[string]string) (q Request, ok bool) {
	path, body := r.Path, r.Body
	for name, id := range ids {
		if mark := "{" + name + "}"; id != "" {
			path, body = strings.ReplaceAll(path, mark, Segment(id)), strings.ReplaceAll(body, mark, inString(id))
		}
	}
	q = Request{Method: r.Method, Path: path, Accept: r.Accept}
	if r.Body != "" {
		q.Body = []byte(body)
	}
	return q, !strings.Contains(path, "{") && !strings.Contains(body, `"{`)
}

// componentOf returns the component of an answer, or "" if it has none.
func (r *Route) componentOf(a *Answer) string {
	object := a.Root().Member("object").String()
	switch {
	case a.Code >= http.StatusBadRequest:
		return "ErrorResponse"
	case a.Code != http.StatusOK && a.Code != http.StatusCreated && a.Code != http.StatusAccepted, r.IsStream():
		return ""
	case r.Answer == "AgentCard" && object == "harn_agent_card":
		return "HarnAgentCard"
	case r.Answer == "Receipt" && !a.Root().Member("schema").IsZero(): // the answer is the receipt itself instead of its resource
		return ""
	case a.Code == http.StatusAccepted && object != "task": // the first request with this key is still in progress
		return ""
	}
	return r.Answer
}

// filters expects that every item in a list belongs to the resources that the request names.
func (r *Route) filters(q Request, list canon.Node) *Fault {
	at, query, _ := strings.Cut(q.Path, "?")
	want, err := url.ParseQuery(query)
	if err != nil {
		return nil
	}
	of, _, _ := strings.Cut(r.Path, "?")
	segments := strings.Split(at, "/")
	for i, name := range strings.Split(of, "/") {
		if id, err := url.PathUnescape(segments[i]); name[0] == '{' && err == nil {
			want.Set(name[1:len(name)-1]+"_id", id)
		}
	}
	for name := range want {
		for _, item := range list.Member("data").Elements() {
			if is := item.Member(name); strings.HasSuffix(name, "_id") && is.Kind() == canon.KindString && is.String() != want.Get(name) {
				return fault("Filter", is, "expected items whose %s is %s, found %s", name, Quote(want.Get(name)), found(is))
			}
		}
	}
	return nil
}

// inString returns text in the escaped form that it has inside a JSON string.
func inString(text string) string {
	quoted := canon.AppendString(nil, text)
	return string(quoted[1 : len(quoted)-1])
}

// routeOf returns the route to which a request belongs. Literal segments take precedence over IDs.
func routeOf(q Request) (found *Route) {
	method, path, accept := q.Method, q.Path, q.Accept
	if method == "" {
		method = http.MethodGet
	}
	if accept == mediaStream {
		accept = ""
	}
	path, _, _ = strings.Cut(path, "?")
	routes := Routes()
	for i := range routes {
		r := &routes[i]
		of, _, _ := strings.Cut(r.Path, "?")
		if r.Method == method && r.Accept == accept && fits(of, path) && (found == nil || !strings.Contains(r.Path, "{")) {
			found = r
		}
	}
	return found
}

// fits reports whether a path matches a pattern.
func fits(pattern, path string) bool {
	names, segments := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(names) != len(segments) {
		return false
	}
	for i, name := range names {
		if name != segments[i] && (name[0] != '{' || segments[i] == "") {
			return false
		}
	}
	return true
}
