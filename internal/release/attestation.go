package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"
)

// issuer is the issuer of the receipts for releases.
const issuer = "receipt-release"

// attestation writes attestation.json, which contains the receipt of the build, attested for the
// commit and all other files. The newly built program seals, signs, and attests the receipt.
func (r *release) attestation(ctx context.Context) error {
	artifacts := []map[string]string{{"kind": "git_commit", "artifact_id": r.revision}}
	files, err := r.digests()
	if err != nil {
		return err
	}
	for _, f := range files {
		artifacts = append(artifacts, map[string]string{"kind": "release_file", "artifact_id": f.Name, "sha256": "sha256:" + f.Digest["sha256"]})
	}

	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	task, none, end := "release of "+r.version, []any{}, time.Now()
	draft, err := json.Marshal(map[string]any{
		"schema": "receipt-2026-04-25", "receipt_id": "receipt_release_" + r.revision, "issued_at": stamp(end),
		"issuer":      map[string]any{"id": issuer, "kind": "host"},
		"subject":     map[string]any{"id": task, "object": "task"},
		"identifiers": map[string]any{"session_id": task, "task_id": task, "workspace_ref": home},
		"lifecycle":   map[string]any{"started_at": stamp(r.started), "completed_at": stamp(end), "final_state": "SUCCEEDED", "failure": nil},
		"model_route": map[string]any{"alternatives_considered": none, "chosen_model": map[string]any{"model": "none", "provider": "none"}, "route_policy_reason": "no model was needed"},
		"approvals":   none, "deltas": none, "redactions": none, "final_artifacts": artifacts,
		"autonomy_budget": map[string]any{"consumed": map[string]any{}},
		"cost":            map[string]any{"currency": "XXX", "provider_breakdown": none, "total": 0},
		"side_effects":    map[string]any{"a2a_handoffs": none, "fs_writes": none, "network_egress": none, "tool_calls": none},
		"replay_input":    map[string]any{"determinism": "best_effort", "materials": none},
		"trust":           map[string]any{"start_tier": "shadow", "end_tier": "shadow"},
		"metadata": map[string]any{"unreported": []string{"/approvals", "/cost/currency", "/cost/total", "/side_effects/fs_writes",
			"/side_effects/network_egress", "/side_effects/tool_calls", "/trust/end_tier", "/trust/start_tier"}},
	})
	if err != nil {
		return err
	}

	// The draft and the receipt are not part of the release.
	work := filepath.Dir(r.source)
	sealed := filepath.Join(work, "receipt.json")
	if err := writeFile(filepath.Join(work, "draft.json"), draft); err != nil {
		return err
	}
	if _, err := command(ctx, work, nil, r.tool(), "seal", "draft.json", "--key", r.key, "-o", sealed); err != nil {
		return err
	}
	_, err = command(ctx, work, nil, r.tool(), "attest", sealed, "--key", r.key, "-o", filepath.Join(r.dir, "attestation.json"))
	return err
}
