package conformance

import (
	"context"
	"errors"
	"net/http"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
)

// seenProbes returns the probes that report all faults in the answers and events of a run, one
// probe per component.
func seenProbes() []Probe {
	var list []Probe
	for _, of := range []struct{ name, component, what, where string }{
		{"error_form", "ErrorResponse", "an error", "Errors; ErrorResponse"},
		{"list_form", "List", "a list", "Pagination; PaginatedList"},
		{"discovery_form", "Discovery", "discovery", "GET /v1, Discovery"},
		{"agent_card_form", "AgentCard", "the agent card", "GET /v1/agent-card, AgentCard, HarnAgentCard"},
		{"workspace_form", "Workspace", "a workspace", "Workspace"},
		{"session_form", "Session", "a session", "Session"},
		{"message_form", "Message", "a message", "Message; Part"},
		{"task_form", "Task", "a task", "Task"},
		{"artifact_form", "Artifact", "an artifact", "Artifact"},
		{"event_form", "Event", "an event", "Event; ReplayEventMetadata"},
		{"outcome_form", "Outcome", "an outcome", "Outcome"},
		{"receipt_form", "Receipt", "the resource of a receipt", "Receipt; ReceiptWireEnvelope"},
		{"verification_form", "Verification", "the verification of a receipt", "ReceiptVerification"},
		{"extended_form", "Extended", "a persona, branch, connector, skill, memory, vault, or quota", "Extended level"},
	} {
		run := func(ctx context.Context, s *suite) { hasForm(ctx, s, of.component) }
		list = append(list, probe(of.name, run, of.what+" has the required members, each of the specified type, everywhere in the run", of.where))
	}
	filters := probe("list_filters", func(ctx context.Context, s *suite) { hasForm(ctx, s, "Filter") },
		"a list that is filtered by workspace, session, or task contains no other items, everywhere in the run", "Pagination; workspace_id, session_id, task_id")
	stay := probe("resources_stay", resourcesStay, "a resource keeps its created_at and its immutable members in every read of the run", "Resource Model; Event")
	return group(Ours, "everything-seen", append(list, filters, stay)...)
}

// survey reads every route once, so that each component is checked even if no other probe ran.
func survey(ctx context.Context, s *suite) {
	if s.own.surveyed {
		return
	}
	ids := resources(ctx, s)
	session := newSession(ctx, s) // a filter for the first session must not return its task
	newTask(ctx, s, session, "a task of another session of the run "+s.id)
	for _, r := range wire.Routes() {
		if q, ok := r.Fill(ids); ok && offers(ctx, s, &r) && (r.Method == http.MethodGet || r.Answer == "Verification") {
			ask(ctx, s.client, &r, q)
			if r.Path == "v1/tasks/{task}" { // an error, too
				q, _ = r.Fill(s.absentIDs())
				ask(ctx, s.client, &r, q)
			}
		}
	}
	s.own.surveyed = true
}

// components returns the components that a probe covers.
func components(name string) []string {
	switch name {
	case "AgentCard":
		return []string{"AgentCard", "HarnAgentCard"}
	case "Extended":
		return []string{"Persona", "Branch", "Connector", "Skill", "Memory", "Vault", "Quota"}
	}
	return []string{name}
}

func hasForm(ctx context.Context, s *suite, name string) {
	survey(ctx, s)
	compared := 0
	for _, component := range components(name) {
		n, fault := s.watch.Form(component)
		if compared += n; fault != "" {
			must(errors.New(fault))
		}
	}
	if compared == 0 {
		skip("none was seen")
	}
}

func resourcesStay(ctx context.Context, s *suite) {
	survey(ctx, s)
	s.own.surveyed = false
	survey(ctx, s)
	if changed := s.watch.Changed(); changed != "" {
		must(errors.New(changed))
	}
}
