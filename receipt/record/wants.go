package record

import (
	"sync"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// wantsByName is wants, made once.
var wantsByName = sync.OnceValue(wants)

// wants says what the members of payloads may hold, in events of every kind that has
// them. One that is not here may hold anything. The schema of events says the same.
func wants() map[string]event.Want {
	all := map[string]event.Want{
		"actor": event.WantActor, "cost": wantMoney, "failure": event.WantObject(nil),
		"reviewers": event.WantList(event.WantText), "declared_paths": event.WantList(event.WantText),
		"signatures":        event.WantList(wantSignature()),
		"approval_request":  wantApprovalRequest(),
		"autonomy_budget":   wantBudget(),
		"model_route":       wantRoute(),
		"fs_writes":         event.WantList(wantWrite()),
		"network_egress":    event.WantList(wantEgress()),
		"at_least":          event.WantList(event.WantText),
		"inferred":          event.WantList(event.WantText),
		"workspace_roots":   event.WantList(event.WantText),
		"git_actions":       event.WantList(event.WantText),
		"read_from_command": event.WantObject(map[string]event.Want{"git": event.WantList(event.WantText), "tests": event.WantList(event.WantText)}),
		"unreported":        event.WantList(event.WantText),
		"overrides_unused":  event.WantList(event.WantText),
		"first_unavailable": event.WantObject(map[string]event.Want{"object": event.WantText, "id": event.WantText}),
	}

	sourceWants(all)
	for _, of := range []struct {
		want  event.Want
		names []string
	}{
		{event.WantText, []string{
			"approval_id", "request_id", "tool_call_id", "name", "action", "policy_ref", "reason", "session_id", "kind", "mutation_scope", "run_id", "worker_id",
			"executor", "server", "raw_status", "parent_call_id", "status", "output_uri", "error_category", "autonomy_tier", "workspace_ref", "tenant_id", "persona_ref", "persona_id",
			"branch_id", "trace_id", "snapshot_asset_id", "uri", "artifact_id", "path", "operation", "from", "span_id", "agent", "provider", "model", "version",
			"response_uri", "url", "host", "destination", "purpose", "connector_id", "delivery_id", "source_task_id", "mode", "source_log_uri", "override_key",
			"delta_id", "event_id", "message", "target_agent", "task_id", "receipt_id", "memory_id", "workspace_root", "checkpoint_id", "checkpoint_event_id",
		}},
		{event.WantCount, []string{"approvers_required", "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "reasoning_output_tokens", "bytes_sent", "duration_ms", "execution_duration_ms", "exit_code", "source_log_events", "wall_time_ms"}},
		{event.WantFlag, []string{"executed", "is_error", "withheld", "applied", "remote", "loaded", "earlier", "unnamed", "apart", "timed", "estimated", "partial"}},
		{event.WantTime, []string{"deadline", "decided_at"}},
		{event.WantDigest, []string{
			"sha256", "before_sha256", "after_sha256", "input_sha256", "output_sha256", "args_sha256", "response_sha256", "source_receipt_hash", "source_log_sha256",
		}},
	} {
		for _, name := range of.names {
			all[name] = of.want
		}
	}
	return all
}

func wantSignature() event.Want {
	return event.WantObject(map[string]event.Want{"reviewer": event.WantName, "signed_at": event.WantName, "signature": event.WantName}, "reviewer", "signed_at", "signature")
}

func wantApprovalRequest() event.Want {
	return event.WantObject(map[string]event.Want{"id": event.WantText, "action": event.WantText, "approvers_required": event.WantCount, "deadline": event.WantTime})
}

func wantBudget() event.Want {
	return event.WantObject(map[string]event.Want{
		"usd": wantMoney, "input_tokens": event.WantCount, "output_tokens": event.WantCount, "tool_calls": event.WantCount, "wall_time_ms": event.WantCount,
	})
}

func wantRoute() event.Want {
	model := event.WantObject(map[string]event.Want{
		"provider": event.WantName, "model": event.WantName, "version": event.WantText, "reason": event.WantText,
	}, "provider", "model")
	return event.WantObject(map[string]event.Want{"chosen_model": model, "alternatives_considered": event.WantList(model), "route_policy_reason": event.WantText})
}

func wantWrite() event.Want {
	return event.WantObject(map[string]event.Want{
		"path": event.WantName, "operation": event.WantText, "from": event.WantText, "before_sha256": event.WantDigest, "after_sha256": event.WantDigest,
	}, "path")
}

func wantEgress() event.Want {
	return event.WantObject(map[string]event.Want{
		"url": event.WantText, "host": event.WantText, "destination": event.WantText, "purpose": event.WantText, "bytes_sent": event.WantCount,
		"announced": event.WantFlag,
	})
}

// sourceWants adds what source.read alone has.
func sourceWants(all map[string]event.Want) {
	counts := func(names ...string) map[string]event.Want {
		of := map[string]event.Want{}
		for _, name := range names {
			of[name] = event.WantCount
		}
		return of
	}

	log := counts("bytes", "lines", "unreadable_lines", "repaired_lines", "overlong_lines")
	log["name"], log["sha256"], log["cut"] = event.WantText, event.WantDigest, event.WantFlag
	all["logs"] = event.WantList(event.WantObject(log))

	held := counts("pairs", "held", "broken", "unchecked")
	held["changed_outside"] = event.WantList(event.WantObject(map[string]event.Want{"path": event.WantText, "from_call": event.WantText, "to_call": event.WantText}))
	all["write_continuity"] = event.WantObject(held)

	texts := event.WantList(event.WantText)
	all["ignored_records"] = event.WantObject(nil)
	all["prompts"] = event.WantObject(map[string]event.Want{"count": event.WantCount, "sha256": event.WantDigest})
	all["about"] = event.WantObject(map[string]event.Want{
		"versions": texts, "sessions": texts, "git_branches": texts, "git_commit": event.WantText, "hooks": event.WantObject(nil), "counted": event.WantObject(nil),
	})
	all[sourceModel] = event.WantObject(map[string]event.Want{"provider": event.WantText, "model": event.WantText})
}

// sourceModel stands for the member model of source.read, which is none of a span's.
const sourceModel = "source.read model"
