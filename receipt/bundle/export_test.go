package bundle_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// TestSameBytes verifies that repeated exports produce the same bytes, regardless of the order of
// members and the line endings in the record.
func TestSameBytes(t *testing.T) {
	run := file(t, "run.json")
	for _, mode := range []bundle.Mode{bundle.Local, bundle.Sanitized, bundle.ReplayOnly} {
		o := bundle.Options{Mode: mode, Attachments: true}
		first := exported(t, run, o)
		data := first.Bytes()
		if int64(len(data)) != first.Size || !bytes.Equal(data, first.Bytes()) {
			t.Errorf("%s: %d bytes, said are %d", mode, len(data), first.Size)
		}
		for name, other := range map[string][]byte{"the same": run, "other order": encode(t, tree(t, run)), "CRLF": bytes.ReplaceAll(run, []byte("\n"), []byte("\r\n"))} {
			if !bytes.Equal(exported(t, other, o).Bytes(), data) {
				t.Errorf("%s: %s gives other bytes", mode, name)
			}
		}
		if _, err := bundle.Check(parse(t, data), bundle.RefuseHeuristics); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// TestID verifies that the ID reveals nothing about removed data.
func TestID(t *testing.T) {
	run := file(t, "run.json")
	other := bytes.Replace(run, []byte(`"local-key"`), []byte(`"1234"`), 1)
	if bytes.Equal(run, other) {
		t.Fatal("the record has no key")
	}
	if a, b := exported(t, run, bundle.Options{}).Bytes(), exported(t, other, bundle.Options{}).Bytes(); !bytes.Equal(a, b) {
		t.Error("two keys that were taken out give two bundles")
	}
	if a, b := exported(t, run, bundle.Options{Mode: bundle.Local}).Bytes(), exported(t, other, bundle.Options{Mode: bundle.Local}).Bytes(); bytes.Equal(a, b) {
		t.Error("two records give one local bundle")
	}
}

func TestWorkspace(t *testing.T) {
	v := tree(t, file(t, "run.json"))
	put(t, v, []any{
		map[string]any{"path": "/srv/lib", "mounted_at": "2026-05-04T09:00:00Z"},
		map[string]any{"path": "/srv/doc", "mount_mode": "sandboxed"},
	}, "transcript", "metadata", "workspace_anchor", "additional_roots")
	text := exported(t, encode(t, v), bundle.Options{})
	want := tree(t, []byte(`{"primary": "[redacted]", "anchored_at": "2026-05-04T09:59:59Z", "policy": "safe_identity_only", "additional_roots": [
		{"path": "[redacted]", "mount_mode": "read_only", "mounted_at": "2026-05-04T09:00:00Z"}, {"path": "[redacted]", "mount_mode": "sandboxed"}]}`))
	if got := at(t, tree(t, text.Bytes()), "workspace"); string(encode(t, got)) != string(encode(t, want)) {
		t.Errorf("%s", encode(t, got))
	}
	if strings.Contains(string(text.Bytes()), "/srv/") {
		t.Error("a path of the machine is still there")
	}

	// If there is no anchor, the bundle has no workspace. A null anchor is treated as absent.
	for _, anchor := range []any{nil, "x"} {
		put(t, v, anchor, "transcript", "metadata", "workspace_anchor")
		if got, there := tree(t, exported(t, encode(t, v), bundle.Options{}).Bytes())["workspace"]; there {
			t.Errorf("%v: %v", anchor, got)
		}
	}
	v = tree(t, file(t, "local.json"))
	v["workspace"] = nil
	if _, err := bundle.Check(parse(t, encode(t, v)), bundle.AllowMarkers); err != nil {
		t.Error(err)
	}
}

// TestPointers verifies that the local paths of logs are removed.
func TestPointers(t *testing.T) {
	v := tree(t, file(t, "run.json"))
	v["observability"] = tree(t, []byte(`{
		"transcript_pointers": [{"kind": "file", "path": "/var/log/run", "location": "$.transcript", "available": true}],
		"worker_lineage": [{"worker_id": "w1", "session_id": "s1", "snapshot_path": "/var/w1"}, {"worker_id": "w2", "session_id": "s2", "snapshot_path": null}, {"worker_id": "w3"}]}`))
	got := tree(t, exported(t, encode(t, v), bundle.Options{}).Bytes())
	want := `[{"available":true,"kind":"file","location":"$.transcript","path":"[redacted]"},` +
		`{"available":true,"kind":"agent_events","location":"worker.w1.session","path":"[redacted]","topic":"observability.agent_events.s1"},` +
		`{"available":false,"kind":"agent_events","location":"worker.w2.session","path":null,"topic":"observability.agent_events.s2"}]` + "\n"
	if pointers := string(encode(t, at(t, got, "replay", "event_log_pointers"))); pointers != want {
		t.Errorf("%s\nwant %s", pointers, want)
	}
	if text := string(encode(t, got)); strings.Contains(text, "/var/") {
		t.Errorf("a path is still there: %s", text)
	}
}

// TestExportHides verifies that no bundle contains a part of a secret that was planted at any of
// ten places in a record, and that every bundle passes Check. If the name of a member is a secret,
// the object is removed.
func TestExportHides(t *testing.T) {
	for i, s := range bundle.Shapes() {
		for j, way := range [][]any{
			{"id"}, {"task"}, {"status"}, {"stages", 0, "node_id"}, {"transcript", "messages", 0, "content"}, {"tool_recordings", 0, "result"},
			{"hitl_questions", 0, "agent"}, {"transcript", "events", 1, "type"}, {"artifacts", 0, "text"}, {"evidence", "x"},
		} {
			if !testsize.Full() && (i+j)%10 > 0 {
				continue
			}
			v := tree(t, file(t, "run.json"))
			if put(t, v, "it is "+s.Text+" now approval", way...); way[0] == "evidence" {
				put(t, v, map[string]any{s.Text: 1}, way...)
			}
			for _, o := range []bundle.Options{{Attachments: true}, {Mode: bundle.ReplayOnly, Attachments: true}, {ID: "it is " + s.Text}} {
				data := exported(t, encode(t, v), o).Bytes()
				hides(t, s.Name, string(data), s.Text)
				if _, err := bundle.Check(parse(t, data), bundle.RefuseHeuristics); err != nil {
					t.Errorf("%s at %v: %v", s.Name, way, err)
				}
			}
		}
	}
}

// TestWriteTo verifies that an error from the writer ends the output, and that the written bytes
// are counted.
func TestWriteTo(t *testing.T) {
	text := exported(t, file(t, "run.json"), bundle.Options{})
	if n, err := text.WriteTo(discard{}); n != text.Size || err != nil {
		t.Errorf("%d of %d, %v", n, text.Size, err)
	}
	full := &short{left: 5000}
	if n, err := text.WriteTo(full); n != 5000 || !errors.Is(err, errFull) {
		t.Errorf("%d, %v", n, err)
	}
}

var errFull = errors.New("full")

// A short writer accepts a limited number of bytes.
type short struct{ left int }

func (s *short) Write(p []byte) (int, error) {
	n := min(len(p), s.left)
	if s.left -= n; n < len(p) {
		return n, errFull
	}
	return n, nil
}

// TestRuns verifies that invalid run records are rejected.
func TestRuns(t *testing.T) {
	for _, test := range []struct {
		name, from, to string
		want           bundle.Error
	}{
		{"no id", `"id": "run_garden",`, ``, bundle.Error{Kind: bundle.MissingRequired, Path: "$.id"}},
		{"no task", `"task": "Water what is dry",`, ``, bundle.Error{Kind: bundle.MissingRequired, Path: "$.task"}},
		{"a status of another type", `"status": "completed",`, `"status": 1,`, bundle.Error{Kind: bundle.Malformed, Path: "$.status", Rule: "expected string, found number"}},
		{"a bundle", `"_type": "run_record"`, `"_type": "harn_session_bundle"`, bundle.Error{Kind: bundle.InvalidType, Path: "$._type", Rule: "expected run_record"}},
		{"stages of another type", `"child_runs": []`, `"child_runs": {}`, bundle.Error{Kind: bundle.Malformed, Path: "$.child_runs", Rule: "expected array, found object"}},
		{"a result that is no text", `"result": "dry"`, `"result": {"wet": false}`, bundle.Error{Kind: bundle.Malformed, Path: "$.tools.calls[0].result", Rule: "expected string, found object"}},
		{"a transition that is no object", `"transitions": [`, `"transitions": [1, `, bundle.Error{Kind: bundle.Malformed, Path: "$.replay.transitions[0]", Rule: "expected object, found number"}},
	} {
		text := strings.Replace(string(file(t, "run.json")), test.from, test.to, 1)
		out, err := bundle.Export([]byte(text), bundle.Options{})
		var wrong *bundle.Error
		if !errors.As(err, &wrong) || *wrong != test.want || out != nil {
			t.Errorf("%s: %v, expected %v", test.name, err, &test.want)
		}
	}

	var option *bundle.OptionError
	untimed := strings.Replace(strings.Replace(string(file(t, "run.json")), `"started_at"`, `"a"`, 1), `"finished_at"`, `"b"`, 1)
	run := []byte(untimed)
	if _, err := bundle.Export(run, bundle.Options{}); !errors.As(err, &option) || option.Name != "CreatedAt" {
		t.Error(err)
	}
	if _, err := bundle.Export(run, bundle.Options{CreatedAt: "2026-05-04T10:00:00Z"}); err != nil {
		t.Error(err)
	}
}

// TestLeast verifies that the export of a record with only the four required members contains no
// invented values.
func TestLeast(t *testing.T) {
	text := exported(t, []byte(`{"id": "r", "workflow_id": "w", "task": "", "status": "running"}`), bundle.Options{CreatedAt: "2026-05-04T10:00:00Z", ID: "b", Producer: bundle.Producer{Name: "p", Version: "1"}})
	const want = `{"_type":"harn_session_bundle","attachments":[],"bundle_id":"b","created_at":"2026-05-04T10:00:00Z",` +
		`"metadata":{"format_note":"A portable copy of one run. Share sanitized or replay_only bundles, and no run records.","unreported":["/runtime/harn_version","/runtime/provider_models"]},` +
		`"permissions":[],"producer":{"name":"p","schema_id":"https://harnlang.com/schemas/session-bundle.v1.json","version":"1"},` +
		`"redaction":{"entries":[],"mode":"sanitized","placeholder":"[redacted]","policy":"harn_vm::redact::RedactionPolicy::default+session_bundle_local_paths","unsafe_secret_markers_rejected":true},` +
		`"replay":{"checkpoints":[],"deterministic_events":[],"event_log_pointers":[],"run_record":{"id":"r","status":"running","task":"","workflow_id":"w"},"trace_spans":[],"transitions":[]},` +
		`"runtime":{"harn_version":"unknown","metadata":{},"provider_models":[]},"schema_version":1,` +
		`"source":{"child_run_count":0,"kind":"run_record","run_record_id":"r","status":"running","task":"","workflow_id":"w"},` +
		`"tools":{"calls":[],"schemas":[]},"transcript":{"sections":[]}}` + "\n"
	if got := string(encode(t, tree(t, text.Bytes()))); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
