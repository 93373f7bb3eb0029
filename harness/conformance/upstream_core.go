package conformance

import (
	"context"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

func coreProbes() []Probe {
	return group(Upstream, "core",
		probe("discovery", discovery, "discovery lists, without a key, the supported versions of the protocol and the capabilities of the server", "GET /v1, Discovery"),
		probe("agent_card", agentCard, "the agent card states, without a key, the server's identity, protocol version, interfaces, and skills", "GET /v1/agent-card, HarnAgentCard"),
		probe("list_core_resources", listCoreResources, "tasks, sessions, artifacts, events, and outcomes are listed in the common list form", "Core level; PaginatedList"),
		probe("workspace_crud", workspaceCRUD, "workspaces are created, read, and changed, or existing ones are listed", "POST, GET, PATCH /v1/workspaces"),
		probe("session_crud", sessionCRUD, "sessions are created, read, and changed", "POST, GET, PATCH /v1/sessions"),
		probe("message_crud", messageCRUD, "messages are appended to a session, read, and listed", "/v1/sessions/{session_id}/messages, /v1/messages/{message_id}"),
		probe("task_crud", taskCRUD, "tasks are submitted, read, and canceled, and have events", "/v1/sessions/{session_id}/tasks, /v1/tasks/{task_id}"),
		probe("artifact_crud", artifactCRUD, "artifacts are registered and read", "/v1/artifacts"),
		probe("event_reads", eventReads, "events are listed and read individually", "GET /v1/events, GET /v1/events/{event_id}"),
		probe("persona_memory_branch_reads", extendedReads, "personas, connectors, skills, quotas, memories, and branches are served or reported as not implemented, 501", "Extended level"),
	)
}

func discovery(ctx context.Context, s *suite) {
	a := s.client.Do(ctx, wire.Request{Path: "v1", NoKey: true}).Status(200).Object("protocol_discovery")
	a.Equal("protocol_family", "harn_agents_protocol").Equal("current_version", protocol.Version).Array("supported_versions").Members("capabilities")
	if a.Err == nil && !hasText(a.Root().Member("supported_versions"), protocol.Version) {
		a.Fail("expected %q among supported_versions, found it not", protocol.Version)
	}
	must(a.Err)
	for name, value := range a.Root().Member("capabilities").Members() {
		const most, longest = 100, 64 // these limits prevent the server from making the report long
		if value.Kind() == canon.KindBool && len(s.advertised) < most && len(name.Text()) <= longest {
			s.advertised[name.String()] = value.Bool()
		}
	}
}

func hasText(array canon.Node, want string) bool {
	for _, e := range array.Elements() {
		if e.String() == want {
			return true
		}
	}
	return false
}

// An agent card has one of two forms: the form in the API description or the form that the
// protocol's own runner expects.
const (
	describedCard = "harn_agent_card"
	runnersCard   = "agent_card"
)

// agentCard accepts either form unless a specific form is required, and notes which form it found.
func agentCard(ctx context.Context, s *suite) {
	a := expect(s.client.Do(ctx, wire.Request{Path: "v1/agent-card", NoKey: true}).Status(200).Has("object", "id", "name").Equal("protocol_version", protocol.Version).Array("skills"))
	dialect := text(a.Root(), "object")
	if dialect != describedCard && dialect != runnersCard || s.options.Card != "" && s.options.Card != dialect {
		want := s.options.Card
		if want == "" {
			want = describedCard + " or " + runnersCard
		}
		must(a.Fail("expected object to be %s, found %s", want, wire.Quote(dialect)).Err)
	}

	of := "interfaces"
	if dialect == describedCard && a.Root().Member(of).IsZero() {
		of = "harn_interfaces"
	}
	expect(a.Array(of))
	s.dialect, s.note = dialect, "the card's dialect is "+dialect+" with "+of
}

func listCoreResources(ctx context.Context, s *suite) {
	for _, of := range []string{"tasks", "sessions", "artifacts", "events", "outcomes"} {
		expect(s.get(ctx, "v1/%s", of).Status(200).List())
	}
}

func workspaceCRUD(ctx context.Context, s *suite) {
	if id := s.target.WorkspaceID; id != "" {
		expect(s.get(ctx, "v1/workspaces/%s", id).Status(200).Object("workspace"))
		s.workspace = id
		return
	}

	made := s.post(ctx, s.id+"-workspace", object{"name": "agents-conformance-" + s.id, "root": "harn://conformance/" + s.id, "metadata": s.meta()}, "v1/workspaces")
	if made.Is(404, 501) {
		list := s.get(ctx, "v1/workspaces").Status(200).List()
		s.workspace = text(first(list.Root().Member("data")), "id")
		if list.Err == nil && s.workspace == "" {
			list.Fail("expected a workspace where none can be made, found none")
		}
		must(list.Err)
		return
	}
	expect(made.Status(201, 200).Object("workspace").Has("id"))
	s.workspace = text(made.Root(), "id")
	expect(s.patch(ctx, s.id+"-workspace-patch", object{"metadata": s.meta()}, "v1/workspaces/%s", s.workspace).Status(200, 501))
}

func ensureWorkspace(ctx context.Context, s *suite) {
	if s.workspace == "" {
		workspaceCRUD(ctx, s)
	}
}

func sessionCRUD(ctx context.Context, s *suite) {
	if id := s.target.SessionID; id != "" {
		expect(s.get(ctx, "v1/sessions/%s", id).Status(200).Object("session"))
		s.session = id
		return
	}
	ensureWorkspace(ctx, s)

	body := object{"workspace_id": s.workspace, "initial_messages": []object{message("agents conformance " + s.id)}, "metadata": s.meta()}
	made := expect(s.post(ctx, s.id+"-session", body, "v1/sessions").Status(201, 200).Object("session").Has("id"))
	s.session = text(made.Root(), "id")
	expect(s.patch(ctx, s.id+"-session-patch", object{"summary": "agents conformance", "metadata": s.meta()}, "v1/sessions/%s", s.session).Status(200, 501))
}

func ensureSession(ctx context.Context, s *suite) {
	if s.session == "" {
		sessionCRUD(ctx, s)
	}
}

func messageCRUD(ctx context.Context, s *suite) {
	ensureSession(ctx, s)
	made := expect(s.post(ctx, s.id+"-message", object{"message": message("a message of the run " + s.id)}, "v1/sessions/%s/messages", s.session).Status(201, 200).Object("message").Has("id"))
	expect(s.get(ctx, "v1/messages/%s", text(made.Root(), "id")).Status(200))
	expect(s.get(ctx, "v1/sessions/%s/messages", s.session).Status(200).List())
}

// submit submits a task and remembers its ID.
func submit(ctx context.Context, s *suite, words string) (id, status string) {
	ensureSession(ctx, s)
	once, err := s.uuid()
	must(err)
	a := s.post(ctx, s.id+"-task-"+once, object{"input": message(words)}, "v1/sessions/%s/tasks", s.session).Status(202, 200)
	status = statusOfTask(a.Has("id"))

	s.task = text(a.Root(), "id")
	remember(s, a.Root())
	return s.task, status
}

// remember stores the IDs of a task's outcome and receipt for later probes.
func remember(s *suite, task canon.Node) {
	if id := text(task, "outcome_id"); id != "" {
		s.outcome = id
	}
	if id := text(task, "receipt_id"); id != "" {
		s.receiptID = id
	}
}

// ensureTask returns the ID of the task that was submitted last, or submits a task.
func ensureTask(ctx context.Context, s *suite) string {
	if s.task == "" {
		submit(ctx, s, "a task of the run "+s.id)
	}
	return s.task
}

func taskCRUD(ctx context.Context, s *suite) {
	id, _ := submit(ctx, s, "a task to read and to cancel of the run "+s.id)
	statusOfTask(s.get(ctx, "v1/tasks/%s", id).Status(200))
	expect(s.get(ctx, "v1/tasks/%s/events", id).Status(200))
	must(cancel(ctx, s, id, s.id+"-cancel").Err)
}

// cancel requests that a task be canceled, although the task may already have ended.
func cancel(ctx context.Context, s *suite, id, once string) *wire.Answer {
	a := s.post(ctx, once, object{"reason": "agents conformance"}, "v1/tasks/%s/cancel", id).Status(200, 409, 422)
	if a.Is(200) {
		statusOfTask(a)
	}
	return a
}

// emptySHA256 is the SHA-256 digest of an empty string, without a prefix, as used in artifacts.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func artifactCRUD(ctx context.Context, s *suite) {
	ensureWorkspace(ctx, s)
	body := object{"kind": "log", "mime_type": "text/plain", "uri": "harn://conformance/" + s.id + "/artifact.txt", "visibility": "public",
		"sha256": emptySHA256, "workspace_id": s.workspace, "metadata": s.meta()}
	made := expect(s.post(ctx, s.id+"-artifact", body, "v1/artifacts").Status(201, 200).Object("artifact").Has("id"))
	expect(s.get(ctx, "v1/artifacts/%s", text(made.Root(), "id")).Status(200))
}

func eventReads(ctx context.Context, s *suite) {
	list := expect(s.get(ctx, "v1/events").Status(200).List())
	if id := text(first(list.Root().Member("data")), "id"); id != "" {
		s.event = id
	}
	if s.event == "" {
		skip("no event is known")
	}
	expect(s.get(ctx, "v1/events/%s", s.event).Status(200).Object("event").Has("event"))
}

func extendedReads(ctx context.Context, s *suite) {
	for _, of := range []string{"personas", "connectors", "skills", "quotas", "memories"} {
		a := s.get(ctx, "v1/%s", of).Status(200, 501)
		if a.Is(200) {
			a.List()
		}
		must(a.Err)
	}

	ensureSession(ctx, s)
	made := expect(s.post(ctx, s.id+"-branch", object{"kind": "session", "base_ref": "main", "metadata": s.meta()}, "v1/sessions/%s/branches", s.session).Status(201, 200, 501))
	if made.Is(501) {
		return
	}
	expect(made.Object("branch").Has("id"))
	expect(s.get(ctx, "v1/branches/%s", text(made.Root(), "id")).Status(200))
}
