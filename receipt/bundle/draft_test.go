package bundle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

func drafted(t *testing.T, data []byte, o bundle.DraftOptions) *receipt.Draft {
	t.Helper()
	o.Issuer.ID = "my_harness"
	draft, err := bundle.Draft(parse(t, data), o)
	if err != nil {
		t.Fatal(err)
	}
	return draft
}

// TestDraft verifies that the receipt from a bundle is complete.
func TestDraft(t *testing.T) {
	data := exported(t, file(t, "run.json"), bundle.Options{}).Bytes()
	got, err := json.MarshalIndent(drafted(t, data, bundle.DraftOptions{WorkspaceRef: "ws_garden"}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *bundle.Update {
		if err := os.WriteFile("testdata/draft.json", append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := file(t, "draft.json"); !bytes.Equal(append(got, '\n'), want) {
		t.Errorf("%s", got)
	}
}

// TestDraftNames verifies that a draft contains the digests of the bundle's bytes and of the
// embedded record.
func TestDraftNames(t *testing.T) {
	data := exported(t, file(t, "run.json"), bundle.Options{Mode: bundle.ReplayOnly}).Bytes()
	d := drafted(t, data, bundle.DraftOptions{})
	doc, err := canon.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	record := doc.Root().Member("replay").Member("run_record").AppendCanonical(nil)
	if d.FinalArtifacts[0].SHA256 != canon.Sum(data) || d.ReplayInput.Materials[0].SHA256 != canon.Sum(record) || d.ReplayInput.Determinism != "best_effort" {
		t.Errorf("%+v, %+v", d.FinalArtifacts, d.ReplayInput)
	}

	// Withheld values have no separate digest. Each entry must have a pointer.
	for _, c := range d.SideEffects.ToolCalls {
		if !c.OutputHash.IsZero() {
			t.Errorf("%s: digest of a withheld value", c.CallID)
		}
	}
	if n := len(at(t, tree(t, data), "redaction", "entries").([]any)); len(d.Redactions) != n {
		t.Errorf("%d redactions of %d", len(d.Redactions), n)
	}
	want := receipt.Redaction{Field: "/replay/run_record/transcript/messages/1/tool_calls/0/arguments/api_key", Reason: "sensitive_field"}
	if !slices.Contains(d.Redactions, want) {
		t.Errorf("%v", d.Redactions)
	}
}

func TestDraftPointers(t *testing.T) {
	v := tree(t, file(t, "local.json"))
	put(t, v, map[string]any{"a/b~c.d": map[string]any{"token": 1}}, "metadata", "x")
	clean := sanitized(t, encode(t, v), bundle.Sanitized, false).Bytes()
	d := drafted(t, clean, bundle.DraftOptions{})
	if want := (receipt.Redaction{Field: "/metadata/x/a~1b~0c.d/token", Reason: "sensitive_field"}); !slices.Contains(d.Redactions, want) {
		t.Errorf("%v", d.Redactions)
	}
}

// TestDraftTells verifies that a draft contains only information from the bundle.
func TestDraftTells(t *testing.T) {
	change := func(way []any, with any) []byte {
		v := tree(t, exported(t, file(t, "run.json"), bundle.Options{}).Bytes())
		put(t, v, with, way...)
		return encode(t, v)
	}
	unreported := func(d *receipt.Draft) []string { return d.Metadata["unreported"].([]string) }

	// A request that was not answered is not an approval.
	d := drafted(t, change([]any{"permissions", 0, "payload", "decision"}, "approved"), bundle.DraftOptions{})
	if len(d.Approvals) != 0 || !slices.Contains(unreported(d), "/approvals") {
		t.Errorf("approvals %v", d.Approvals)
	}
	v := tree(t, exported(t, file(t, "run.json"), bundle.Options{}).Bytes())
	for name, with := range map[string]any{"decision": "denied", "decided_at": "2026-05-04T10:00:02Z", "actor": "ada"} {
		put(t, v, with, "permissions", 0, "payload", name)
	}
	put(t, v, at(t, v, "permissions").([]any)[:1], "permissions")
	d = drafted(t, encode(t, v), bundle.DraftOptions{})
	if len(d.Approvals) != 1 || d.Approvals[0].Decision != "denied" || d.Approvals[0].Action != "hitl_question" || slices.Contains(unreported(d), "/approvals") {
		t.Errorf("approvals %+v", d.Approvals)
	}

	// Before the export, part of a result may have been removed from the record without being
	// listed.
	for _, result := range []string{"key <redacted:npm_token:40>", "[redacted]", "[withheld]"} {
		d = drafted(t, change([]any{"tools", "calls", 0, "result"}, result), bundle.DraftOptions{})
		if !d.SideEffects.ToolCalls[0].OutputHash.IsZero() {
			t.Errorf("%s: digest of a redacted result", result)
		}
	}

	// First, the run has no end time; then, the creation time of the bundle is invalid.
	d = drafted(t, change([]any{"source", "finished_at"}, nil), bundle.DraftOptions{})
	if !slices.Contains(unreported(d), "/lifecycle/completed_at") || d.AutonomyBudget.Consumed.WallTimeMS != nil {
		t.Errorf("%+v", d.Lifecycle)
	}
	var option *bundle.OptionError
	if _, err := bundle.Draft(parse(t, change([]any{"created_at"}, "soon")), bundle.DraftOptions{Issuer: receipt.Issuer{ID: "h"}}); !errors.As(err, &option) || option.Name != "IssuedAt" {
		t.Error(err)
	}
	drafted(t, change([]any{"created_at"}, "soon"), bundle.DraftOptions{IssuedAt: time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)})

	// Only a few statuses indicate the end of a run.
	for status, want := range map[string]string{"succeeded": "SUCCEEDED", "failed": "FAILED", "error": "FAILED", "cancelled": "CANCELED"} {
		if d := drafted(t, change([]any{"source", "status"}, status), bundle.DraftOptions{}); d.Lifecycle.FinalState != want {
			t.Errorf("%s: %s", status, d.Lifecycle.FinalState)
		}
	}
	_, err := bundle.Draft(parse(t, change([]any{"source", "status"}, "running")), bundle.DraftOptions{Issuer: receipt.Issuer{ID: "h"}})
	var wrong *bundle.Error
	if !errors.As(err, &wrong) || wrong.Kind != bundle.NotEnded {
		t.Error(err)
	}

	// If there are several models, the model is unreported.
	d = drafted(t, change([]any{"runtime", "provider_models"}, []any{"a", "b"}), bundle.DraftOptions{})
	if d.ModelRoute.ChosenModel.Model != "unknown" || !slices.Contains(unreported(d), "/model_route/chosen_model") {
		t.Errorf("%+v", d.ModelRoute)
	}

	// If no run record is embedded, the receipt lists no materials.
	v = tree(t, exported(t, file(t, "run.json"), bundle.Options{}).Bytes())
	put(t, v, nil, "replay", "run_record")
	if d := drafted(t, encode(t, v), bundle.DraftOptions{}); d.ReplayInput.Determinism != "best_effort" || len(d.ReplayInput.Materials) != 0 {
		t.Errorf("%+v", d.ReplayInput)
	}
	put(t, v, nil, "replay", "replay_fixture")
	if d := drafted(t, encode(t, v), bundle.DraftOptions{}); d.ReplayInput.Determinism != "unavailable" {
		t.Errorf("%+v", d.ReplayInput)
	}
}

// TestDraftHides verifies that no receipt is created from a bundle that contains secrets. If
// secrets are allowed, the draft must not contain any of them.
func TestDraftHides(t *testing.T) {
	local := exported(t, file(t, "run.json"), bundle.Options{Mode: bundle.Local}).Bytes()
	o := bundle.DraftOptions{Issuer: receipt.Issuer{ID: "h"}}
	for i, s := range bundle.Shapes() {
		for j, way := range append(places(), []any{"tools", "calls", 0, "tool_name"}, []any{"runtime", "provider_models", 0}, []any{"redaction", "policy"}) {
			if !testsize.Full() && (i+j)%5 > 0 {
				continue
			}
			data, _ := planted(t, local, s.Text, way)
			if _, err := bundle.Draft(parse(t, data), o); (err == nil) != (i >= 14) {
				t.Errorf("%s at %v: %v", s.Name, way, err)
			}
			allowed := o
			allowed.Markers = bundle.AllowMarkers
			draft, err := bundle.Draft(parse(t, data), allowed)
			if err != nil {
				t.Fatal(err)
			}
			hides(t, s.Name, string(encode(t, draft)), s.Text)
		}
	}
}
