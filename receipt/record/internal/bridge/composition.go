package bridge

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// translateChildCall translates a call that a code snippet made. Such a call is treated like any
// other call, with the kind from its annotations.
func translateChildCall(f *Translator, fr *frame) {
	u := fr.update
	c := f.calls.named(fr, childID(fr))
	c.name = cmp.Or(c.name, fr.str(u, "toolName"), "unknown")
	c.kind = cmp.Or(fr.Text(Own(u, "annotations"), "kind"), c.kind)
	c.address(fr, u)
	c.announced, c.told = true, true
	f.emit(fr, "tool.requested", members{
		"tool_call_id": c.id, "name": c.name, "kind": c.kind, "input": Own(u, "rawInput"), "run_id": fr.str(u, "runId"),
		"mutation_scope": scopeOf(fr.str(u, "requestedSideEffectLevel")), "policy_ref": fr.policyRef(u),
	})
}

// translateChildResult translates the end of a call that a code snippet made. The end may be
// reported more than once.
func translateChildResult(f *Translator, fr *frame) {
	u := fr.update
	c := f.calls.named(fr, childID(fr))
	if !c.announced {
		translateChildCall(f, fr)
	}
	c.contents(f, fr, u)
	switch status := fr.str(u, "status"); status {
	case "completed", "failed":
		c.hear(u)
		c.close(f, fr, status)
	case "in_progress":
		c.executed = true
		f.emit(fr, "tool.requested", members{"tool_call_id": c.id, "executed": true})
	case "", "pending":
		f.counts.Silent++
	default: // an unknown status does not indicate an end
		f.emit(fr, "tool.requested", members{"tool_call_id": c.id, "raw_status": status})
	}
}

// childID returns the ID of a call that a snippet made. If the call has no ID, it returns an ID
// derived from the run and the position of the call.
func childID(fr *frame) string {
	if id := fr.str(fr.update, "toolCallId"); id != "" {
		return id
	}
	run := fr.str(fr.update, "runId")
	if n := Own(fr.update, "operationIndex"); run != "" && !event.Absent(n) {
		return run + ":" + string(n.AppendCanonical(nil))
	}
	fr.Fail(event.CodePayload, fr.update, "the member toolCallId is missing or empty")
	return run
}

// scopeOf returns the scope of a mutation session for a level of side effects.
func scopeOf(level string) string {
	if level == "none" {
		return "read_only"
	}
	return level
}

// translateComposition records the digest of an update about a snippet, its output, or its result.
// The effects of a snippet are the effects of its calls.
func translateComposition(f *Translator, fr *frame) {
	f.emit(fr, "agent.message", members{"form": "composition", "content_sha256": event.HashOf(fr.update).String()})

	// Artifacts with IDs are results of the task.
	artifacts := Own(fr.update, "artifacts")
	if !event.Absent(artifacts) && artifacts.Kind() != canon.KindArray {
		f.unread.note(f, fr, fr.Kind+" artifacts", artifacts)
	}
	for _, n := range artifacts.Elements() {
		id := ""
		if n.Kind() == canon.KindObject {
			id = cmp.Or(fr.Text(n, "artifactId"), fr.Text(n, "artifact_id"), fr.Text(n, "id"))
		}
		if id == "" {
			f.unread.note(f, fr, fr.Kind+" artifacts", n)
			continue
		}
		made(f, fr, id, n)
	}
}
