package harness

import (
	"net/http"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/harness/feed"
	"github.com/receiptkit/receiptkit/harness/openapi"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// Scopes returns the scopes that a key for a harness can have: the scopes that the protocol
// defines, and the scope for verification.
func Scopes() []protocol.Scope { return append(protocol.Scopes(), serve.ScopeVerify) }

// mostHeld is the maximum number of bytes of request bodies and responses that are in memory at the
// same time. A single client gets half of this memory, which is enough for the longest receipt in
// CBOR.
const mostHeld = 128 << 20

// serve creates the handler for the routes of the protocol, including those for receipts.
func (h *Harness) serve() error {
	verifier, err := serve.NewVerifier(h.options.Trust, receipt.Policy{}, nil)
	if err != nil {
		return err
	}
	receipts, err := serve.New(serve.Options{
		Verifier: func() *serve.Verifier { return verifier }, Source: served.New(h.ledger), Auth: h.options.Auth, Public: h.options.Public, Page: h.options.Page,
		Ready: h.journal.Ready, Now: h.options.Now, Random: h.options.Random, Log: h.options.Log,
	})
	if err != nil {
		return err
	}
	routes := append(h.routes(), h.receiptRoutes(receipts)...)
	description, err := openapi.Describe(serve.OpenAPI(), "example harness", routes)
	if err != nil {
		return err
	}
	routes = append(routes, protocol.Route{Pattern: "GET /openapi.json", Open: true, Serve: func(w http.ResponseWriter, _ *protocol.Request) error {
		return protocol.Write(w, http.StatusOK, protocol.MediaJSON, description)
	}})
	h.mux, err = protocol.NewMux(protocol.Options{
		Routes: routes, Auth: h.options.Auth, Public: h.options.Public, Now: h.options.Now, Random: h.options.Random, Log: h.options.Log,
		Observe: receipts.Observe, Hosts: h.options.Hosts, Guarded: "/v1/", Memory: h.memory,
		Limits: protocol.Limits{Body: replay.MaxRequest, Memory: mostHeld},
	})
	return err
}

// routes returns the routes of the protocol, except those for receipts.
func (h *Harness) routes() []protocol.Route {
	p := feed.ListParams
	routes := []protocol.Route{
		{Pattern: "GET /v1", Open: true, Serve: h.discovery},
		{Pattern: "GET /v1/agent-card", Open: true, Serve: h.card},

		{Pattern: "GET /v1/workspaces", Scope: protocol.SessionsRead, Params: p(), Serve: lists(h, &h.state.workspaces)},
		{Pattern: "POST /v1/workspaces", Scope: protocol.SessionsWrite, Serve: h.createWorkspace},
		{Pattern: "GET /v1/workspaces/{workspace_id}", Scope: protocol.SessionsRead, Serve: get(h, &h.state.workspaces, "workspace_id")},
		{Pattern: "PATCH /v1/workspaces/{workspace_id}", Scope: protocol.SessionsWrite, Serve: h.updateWorkspace},

		{Pattern: "GET /v1/sessions", Scope: protocol.SessionsRead, Params: p("workspace_id"), Serve: lists(h, &h.state.sessions)},
		{Pattern: "POST /v1/sessions", Scope: protocol.SessionsWrite, Serve: h.createSession},
		{Pattern: "GET /v1/sessions/{session_id}", Scope: protocol.SessionsRead, Serve: get(h, &h.state.sessions, "session_id")},
		{Pattern: "PATCH /v1/sessions/{session_id}", Scope: protocol.SessionsWrite, Serve: h.updateSession},
		{Pattern: "POST /v1/sessions/{session_id}/close", Scope: protocol.SessionsWrite, Body: protocol.BodyOptional, Serve: h.closeSession},
		{Pattern: "GET /v1/sessions/{session_id}/messages", Scope: protocol.SessionsRead, Params: p(), Serve: lists(h, &h.state.messages)},
		{Pattern: "POST /v1/sessions/{session_id}/messages", Scope: protocol.SessionsWrite, Serve: h.createMessage},
		{Pattern: "GET /v1/messages/{message_id}", Scope: protocol.SessionsRead, Serve: get(h, &h.state.messages, "message_id")},

		{Pattern: "GET /v1/tasks", Scope: protocol.TasksRead, Params: p("workspace_id", "session_id"), Serve: lists(h, &h.state.tasks)},
		{Pattern: "POST /v1/tasks", Scope: protocol.TasksWrite, Serve: h.submit},
		{Pattern: "GET /v1/sessions/{session_id}/tasks", Scope: protocol.TasksRead, Params: p(), Serve: lists(h, &h.state.tasks)},
		{Pattern: "POST /v1/sessions/{session_id}/tasks", Scope: protocol.TasksWrite, Serve: h.submit},
		{Pattern: "GET /v1/tasks/{task_id}", Scope: protocol.TasksRead, Serve: getSettled(h, &h.state.tasks, "task_id")},
		{Pattern: "POST /v1/tasks/{task_id}/cancel", Scope: protocol.TasksWrite, Body: protocol.BodyOptional, Serve: h.cancel},
		{Pattern: "POST /v1/tasks/{task_id}/messages", Scope: protocol.TasksWrite, Serve: h.tellTask},
		{Pattern: "POST /v1/tasks/{task_id}/replay", Scope: protocol.TasksWrite, Body: protocol.BodyOptional, Serve: h.replay},

		{Pattern: "GET /v1/permission-requests", Scope: protocol.TasksRead, Params: p("workspace_id", "session_id", "task_id"), Serve: lists(h, &h.state.permissions)},
		{Pattern: "GET /v1/tasks/{task_id}/permission-requests", Scope: protocol.TasksRead, Params: p(), Serve: lists(h, &h.state.permissions)},

		{Pattern: "GET /v1/artifacts", Scope: protocol.ArtifactsRead, Params: p("workspace_id", "session_id", "task_id"), Serve: lists(h, &h.state.artifacts)},
		{Pattern: "POST /v1/artifacts", Scope: protocol.ArtifactsWrite, Serve: h.createArtifact},
		{Pattern: "GET /v1/artifacts/{artifact_id}", Scope: protocol.ArtifactsRead, Serve: get(h, &h.state.artifacts, "artifact_id")},
		{Pattern: "GET /v1/artifacts/{artifact_id}/content", Scope: protocol.ArtifactsRead, Serve: h.getContent},
		{Pattern: "GET /v1/outcomes", Scope: protocol.TasksRead, Params: p("task_id"), Serve: lists(h, &h.state.outcomes)},
		{Pattern: "GET /v1/outcomes/{outcome_id}", Scope: protocol.TasksRead, Serve: getSettled(h, &h.state.outcomes, "outcome_id")},
	}
	for i := range routes {
		if method, _, _ := strings.Cut(routes[i].Pattern, " "); method != http.MethodGet && routes[i].Pattern != "POST /v1/tasks/{task_id}/replay" {
			routes[i].Serve = h.cleaned(routes[i].Serve)
		}
	}
	return slices.Concat(routes, h.eventRoutes(), absent())
}

// absent returns the routes at the protocol's Extended level, which are not implemented.
func absent() (routes []protocol.Route) {
	for _, pattern := range []string{
		"/v1/personas", "/v1/personas/{id}", "/v1/connectors", "/v1/connectors/{id}", "/v1/skills", "/v1/skills/{id}",
		"/v1/quotas", "/v1/quotas/{id}", "/v1/memories", "/v1/memories/{id}", "/v1/vaults", "/v1/vaults/{id}",
		"/v1/sessions/{session_id}/branches", "/v1/branches/{id}", "/v1/sessions/{session_id}/fork", "/v1/sessions/{session_id}/truncate",
	} {
		name := pattern[strings.LastIndex(strings.TrimSuffix(pattern, "/{id}"), "/")+1:]
		what := strings.TrimSuffix(name, "/{id}")
		routes = append(routes, protocol.Route{Pattern: pattern, Body: protocol.BodyBytes, Again: true, Params: feed.ListParams("workspace_id"), Serve: func(http.ResponseWriter, *protocol.Request) error {
			e := &protocol.Error{Code: protocol.CodeInvalid, Status: http.StatusNotImplemented, Type: "server_error"}
			e.Message = "this server does not implement " + what // the protocol's closed list of codes contains no code for this case
			return e
		}})
	}
	return routes
}

// receiptRoutes returns the routes for receipts, which package serve implements. The route that
// lists a task's receipts waits for the receipt if the task has just ended.
func (h *Harness) receiptRoutes(receipts *serve.Server) (routes []protocol.Route) {
	for _, route := range receipts.Routes() {
		switch route.Pattern {
		case "GET /v1", "GET /v1/agent-card", "GET /openapi.json", "POST /v1/tasks/{id}/replay":
			continue
		case "GET /v1/tasks/{id}/receipts":
			list := route.Serve
			route.Serve = func(w http.ResponseWriter, r *protocol.Request) error {
				if t, err := h.task(r, r.PathValue("id")); err == nil {
					h.settled(r.Context(), t.ID)
				}
				return list(w, r)
			}
		}
		routes = append(routes, route)
	}
	return routes
}

func (h *Harness) discovery(w http.ResponseWriter, _ *protocol.Request) error {
	return protocol.WriteJSON(w, http.StatusOK, protocol.NewDiscovery("rest", "sse", "receipts", "replay"))
}

// card serves the agent card in the format that the options specify.
func (h *Harness) card(w http.ResponseWriter, _ *protocol.Request) error {
	const about = "Does small tasks, and gives a receipt for each."
	media := []string{protocol.MediaJSON}
	skill := protocol.Skill{ID: "talk", Name: "Talk", Description: "Replies to messages, and reads the clock.", Tags: []string{"example"}}
	card := protocol.Card{ID: "example-harness", Name: "example harness", Description: about, Since: h.began, Transports: []string{"rest", "sse"}, Input: media, Output: media,
		Skills: []protocol.Skill{skill}, Capabilities: []string{"receipts", "replay"}, Runner: h.options.Card == RunnerCard}
	if h.options.Auth != nil {
		card.AuthSchemes = []string{"bearer"}
	}
	return protocol.WriteJSON(w, http.StatusOK, card)
}
