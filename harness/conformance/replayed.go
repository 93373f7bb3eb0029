package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// source returns the task to be replayed and the receipt for it.
func source(ctx context.Context, s *suite) (*ended, *given) {
	able(ctx, s, "replay")
	return plainReceipt(ctx, s)
}

// replayed requests a replay and waits until it has ended.
func replayed(ctx context.Context, s *suite, e *ended, body any) (*ended, *given) {
	a := s.post(ctx, "", body, "v1/tasks/%s/replay", e.id).Status(202).Equal("parent_task_id", e.id)
	statusOfTask(a.Has("id"))
	for _, name := range []string{"session_id", "workspace_id"} {
		a.Equal(name, text(e.task.Root(), name))
	}
	if id := text(a.Root(), "id"); a.Err == nil && id == e.id {
		a.Fail("expected a task of its own, found the source")
	}
	must(a.Err)
	r := end(ctx, s, text(a.Root(), "id"))
	return r, receiptOf(ctx, s, r)
}

// judge checks the receipt for a completed replay against the receipt for the source, and against
// the plan computed from the source's log and the request.
func judge(ctx context.Context, s *suite, e *ended, from *given, request []byte, r *ended, g *given) {
	if r.status != e.status {
		must(r.task.Fail("expected the replay to end as its source did, %s, found it %s", e.status, r.status).Err)
	}
	must(errors.Join(isReplay(g, e, r), g.verified()))
	asked, err := replay.ParseRequest(request)
	if err != nil {
		fail("conformance: a request of ours: %w", err)
	}
	must(sameMaterials(from, g, asked))
	log := logOf(ctx, s, e.id)
	plan, err := replay.NewPlan(ctx, log, asked, nil)
	if err != nil {
		fail("the events of the task %s give no plan of a replay: %w", wire.Quote(e.id), err)
	}
	must(sameAsPlan(s, plan, from, g))
}

// isReplay expects that a receipt describes a replay that is a separate task and has no side
// effects.
func isReplay(g *given, e, r *ended) error {
	root := g.doc.Root()
	subject := root.Member("subject")
	switch {
	case text(subject, "object") != "replay_segment" || text(subject, "id") != r.id:
		g.answer.Fail("expected the subject replay_segment %s, found %s %s", wire.Quote(r.id), wire.Quote(text(subject, "object")), wire.Quote(text(subject, "id")))
	case text(root.Member("metadata"), "source_task_id") != "" && text(root.Member("metadata"), "source_task_id") != e.id:
		g.answer.Fail("expected the task %s as metadata.source_task_id, found %s", wire.Quote(e.id), wire.Quote(text(root.Member("metadata"), "source_task_id")))
	}
	for name, list := range root.Member("side_effects").Members() {
		if g.answer.Err == nil && list.Len() > 0 {
			g.answer.Fail("expected no %s of a replay, found %d", wire.Quote(name.String()), list.Len())
		}
	}
	if total := root.Member("cost").Member("total"); g.answer.Err == nil && total.Float() != 0 {
		g.answer.Fail("expected a replay that cost nothing, found %s", wire.Quote(string(total.Raw())))
	}
	return g.answer.Err
}

// sameMaterials expects that the replay has the source's answers, except for those that the request
// overrides, and exactly one delta per override.
func sameMaterials(from, g *given, asked *replay.Request) error {
	recorded, log := materials(from.doc)
	used, logUsed := materials(g.doc)
	if want, got := text(log, "sha256"), text(logUsed, "sha256"); want != got {
		return g.answer.Fail("expected the log of the source, %s, as event_log, found %s", want, wire.Quote(got)).Err
	}
	var keys []string
	for i := range asked.Overrides {
		o := &asked.Overrides[i]
		keys = append(keys, o.Key)
		digest, _ := o.Digest()
		if m, listed := used[o.Key]; listed && text(m, "sha256") != digest.String() {
			return g.answer.Fail("expected the material %s with the digest of its override, %s, found %s", wire.Quote(o.Key), digest, wire.Quote(text(m, "sha256"))).Err
		}
	}
	for id, m := range used {
		if was, known := recorded[id]; !slices.Contains(keys, id) && (!known || text(was, "sha256") != text(m, "sha256")) {
			return g.answer.Fail("expected the material %s as it was recorded, %s, found %s: nothing may be refreshed", wire.Quote(id), wire.Quote(text(was, "sha256")), wire.Quote(text(m, "sha256"))).Err
		}
	}

	var swapped []string
	for _, d := range g.doc.Root().Member("deltas").Elements() {
		swapped = append(swapped, text(d, "override_key"))
	}
	if slices.Sort(swapped); !slices.Equal(swapped, keys) {
		return g.answer.Fail("expected a delta for each override, %d, found %d for %s", len(keys), len(swapped), wire.Quote(strings.Join(swapped, ", "))).Err
	}
	return nil
}

// sameAsPlan expects that the receipt contains exactly what the plan for the replay specifies.
func sameAsPlan(s *suite, plan *replay.Plan, from, g *given) error {
	report := g.report.Clone()
	if err := plan.Check(s.judge, report, g.doc, from.doc); err != nil {
		return fmt.Errorf("the log of the replay's source cannot be read again: %w", err)
	}
	// In a replay, a module may create artifacts that are not in the log of the source.
	open := func(c receipt.Check) bool {
		return c.Step == receipt.StepHash && c.Status != receipt.StatusPassed && !strings.HasPrefix(c.Pointer, "/final_artifacts/")
	}
	if report.Verdict == receipt.Refuted || slices.ContainsFunc(report.Checks, open) {
		found := report.Finding()
		return g.answer.Fail("expected the receipt that the source's log and the request give, found it %s: %s at %s", report.Verdict, found.Code, wire.Quote(found.Pointer)).Err
	}
	return nil
}

// swaps returns overrides of recorded values, with their keys. The values are the time at which the
// task started, and one answer.
func swaps(from *given) (overrides object, keys []string) {
	end := text(from.doc.Root().Member("lifecycle"), "completed_at")
	overrides = object{"time:started_at": object{"kind": "time", "value": end, "visibility": "internal", "reason": "agents conformance"}}
	recorded, _ := materials(from.doc)
	key := ""
	for id := range recorded {
		if before(id, key) {
			key = id
		}
	}
	switch prefix, _, _ := strings.Cut(key, ":"); prefix {
	case "llm":
		overrides[key] = object{"kind": "llm_provider_response", "value": object{"choices": []object{{"message": object{"role": "assistant", "content": "agents conformance"}}}}}
	case "host":
		overrides[key] = object{"kind": "tool_result", "value": object{"agents": "conformance"}, "visibility": "public"}
	case "mcp":
		overrides[key] = object{"kind": "mcp_tool_return", "value": object{"agents": "conformance"}, "visibility": "public"}
	}
	for key := range overrides {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return overrides, keys
}

// before reports whether overriding answer a is preferable to overriding answer b. Answers of tools
// are preferred, because the course of a task depends least on them. Otherwise, the last answer of
// a model is preferred.
func before(a, b string) bool {
	rank := func(id string) int {
		switch {
		case strings.HasPrefix(id, "host:memory:"):
			return 0
		case strings.HasPrefix(id, "host:"), strings.HasPrefix(id, "mcp:"):
			return 2
		case strings.HasPrefix(id, "llm:"):
			return 1
		}
		return 0
	}
	if rank(a) != rank(b) {
		return rank(a) > rank(b)
	}
	return rank(a) > 0 && a > b
}

func kindOf(key string) string {
	switch prefix, _, _ := strings.Cut(key, ":"); prefix {
	case "llm":
		return "llm_provider_response"
	case "mcp":
		return "mcp_tool_return"
	case "time":
		return "time"
	}
	return "tool_result"
}

// refuses expects that the server refuses to replay a task with the given body.
func refuses(ctx context.Context, s *suite, e *ended, body any, statuses ...int) {
	a := s.post(ctx, "", body, "v1/tasks/%s/replay", e.id).Status(statuses...)
	if err := a.Err; err != nil {
		fail("with %s: %w", encode(body), err)
	}
	if slices.Equal(statuses, []int{400}) {
		a.Error(protocol.CodeInvalid)
	}
	must(a.Err)
}
