package bundle_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/bundle"
)

func imported(t *testing.T, data []byte) *bundle.Text {
	t.Helper()
	text, err := bundle.Import(parse(t, data), bundle.RefuseMarkers)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestImportRecord verifies that importing a local bundle returns the original record, member by
// member, and that the ID of a bundle is derived from the returned record.
func TestImportRecord(t *testing.T) {
	run := file(t, "run.json")
	for _, mode := range []bundle.Mode{bundle.Local, bundle.Sanitized, bundle.ReplayOnly} {
		data := exported(t, run, bundle.Options{Mode: mode}).Bytes()
		text := imported(t, data).Bytes()
		if mode == bundle.Local && !reflect.DeepEqual(tree(t, text), tree(t, run)) {
			t.Errorf("another record: %s", text)
		}
		if !reflect.DeepEqual(tree(t, text), at(t, tree(t, data), "replay", "run_record")) {
			t.Errorf("%s: not the record that is embedded", mode)
		}
		sum := sha256.Sum256(text)
		if id := at(t, tree(t, data), "bundle_id"); id != "bundle_"+hex.EncodeToString(sum[:16]) {
			t.Errorf("%s: the id is %v, the digest %x", mode, id, sum)
		}
	}
}

func TestImportObservability(t *testing.T) {
	for _, own := range []any{nil, "absent", map[string]any{"mine": 1}} {
		v := tree(t, exported(t, file(t, "run.json"), bundle.Options{}).Bytes())
		put(t, v, map[string]any{"theirs": 1}, "replay", "observability")
		if put(t, v, own, "replay", "run_record", "observability"); own == "absent" {
			delete(at(t, v, "replay", "run_record").(map[string]any), "observability")
		}
		got := at(t, tree(t, imported(t, encode(t, v)).Bytes()), "observability").(map[string]any)
		if _, mine := got["mine"]; mine != (own != nil && own != "absent") || len(got) != 1 {
			t.Errorf("%v: %v", own, got)
		}
	}
}

// TestImportReconstructed verifies that, if no record is embedded, a record is created from the
// fixture and the transcript.
func TestImportReconstructed(t *testing.T) {
	data := exported(t, file(t, "run.json"), bundle.Options{ID: "bundle_x"}).Bytes()
	for _, gone := range []bool{true, false} {
		v := tree(t, data)
		if put(t, v, nil, "replay", "run_record"); gone {
			delete(v["replay"].(map[string]any), "run_record")
		}
		got := tree(t, imported(t, encode(t, v)).Bytes())
		want := map[string]any{
			"_type": "run_record", "id": "run_garden", "workflow_id": "wf_garden", "workflow_name": "Garden", "task": "Water what is dry", "status": "completed",
			"started_at": "2026-05-04T10:00:00Z", "finished_at": "2026-05-04T10:00:09Z", "root_run_id": "run_garden", "parent_run_id": nil,
			"stages": []any{}, "artifacts": []any{}, "handoffs": []any{}, "child_runs": []any{}, "pending_nodes": []any{}, "completed_nodes": []any{}, "policy": map[string]any{},
			"transitions": at(t, v, "replay", "transitions"), "checkpoints": at(t, v, "replay", "checkpoints"), "trace_spans": at(t, v, "replay", "trace_spans"),
			"tool_recordings": at(t, v, "tools", "calls"), "hitl_questions": []any{at(t, v, "permissions", 0, "payload")},
			"usage": at(t, v, "runtime", "usage"), "replay_fixture": at(t, v, "replay", "replay_fixture"),
			"metadata": tree(t, []byte(`{"imported_from_session_bundle": "bundle_x", "session_bundle_schema_version": 1, "worker_snapshot_count": 0}`)),
		}
		transcript := at(t, v, "transcript", "sections", 0).(map[string]any)
		for _, name := range []string{"id", "label", "scope", "location"} {
			delete(transcript, name)
		}
		transcript["_type"] = "transcript"
		want["transcript"] = transcript
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nwant %s", encode(t, got), encode(t, want))
		}
	}
}

func TestImportNothing(t *testing.T) {
	for _, test := range []struct {
		fixture, sections bool
		rule              string
	}{
		{false, true, "it is not there, and neither is $.replay.replay_fixture"},
		{true, false, "it is not there, and neither is $.transcript.sections"},
		{false, false, "it is not there, and neither is $.replay.replay_fixture or $.transcript.sections"},
	} {
		v := tree(t, exported(t, file(t, "run.json"), bundle.Options{}).Bytes())
		delete(v["replay"].(map[string]any), "run_record")
		if !test.fixture {
			delete(v["replay"].(map[string]any), "replay_fixture")
		}
		if !test.sections {
			put(t, v, []any{}, "transcript", "sections")
		}
		_, err := bundle.Import(parse(t, encode(t, v)), bundle.RefuseMarkers)
		var wrong *bundle.Error
		if !errors.As(err, &wrong) || *wrong != (bundle.Error{Kind: bundle.NoRunRecord, Path: "$.replay.run_record", Rule: test.rule}) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestImportRefuses verifies that a bundle that fails Check is not imported.
func TestImportRefuses(t *testing.T) {
	data, path := planted(t, exported(t, file(t, "run.json"), bundle.Options{Mode: bundle.Local}).Bytes(), bundle.Shapes()[3].Text, places()[4])
	_, err := bundle.Import(parse(t, data), bundle.RefuseMarkers)
	var wrong *bundle.Error
	if !errors.As(err, &wrong) || wrong.Kind != bundle.UnsafeSecretMarker || wrong.Path != path {
		t.Error(err)
	}
	if _, err := bundle.Import(parse(t, data), bundle.AllowMarkers); err != nil {
		t.Error(err)
	}
}
