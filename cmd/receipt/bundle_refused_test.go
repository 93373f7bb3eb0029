package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestBundleRefused verifies that every subcommand exits with code 1 for a missing member or an
// unsupported version, reports the location, and leaves no file behind.
func TestBundleRefused(t *testing.T) {
	code, local, stderr := command(nil, "bundle", "export", "../../receipt/bundle/testdata/run.json")
	if code != 0 {
		t.Fatal(stderr)
	}
	file, none := filepath.Join(t.TempDir(), "bundle.json"), filepath.Join(t.TempDir(), "none.json")
	refused := func(change func(map[string]any), want string) {
		t.Helper()
		var v map[string]any
		if err := json.Unmarshal([]byte(local), &v); err != nil {
			t.Fatal(err)
		}
		change(v)
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, file, data)
		for _, args := range [][]string{{"validate"}, {"sanitize", "-o", none}, {"import", "-o", none}, {"draft", "--issuer", "h", "-o", none}} {
			code, stdout, stderr := command(nil, append([]string{"bundle", args[0], file}, args[1:]...)...)
			if code != cli.ExitRefuted || stdout != "" || !strings.Contains(stderr, "invalid session bundle: "+want) {
				t.Errorf("%v: exit %d, %q, %s, expected %s", args, code, stdout, stderr, want)
			}
			if _, err := os.Stat(none); err == nil {
				t.Fatalf("a file remains after %v", args)
			}
		}
	}

	count := 0
	for in, names := range map[string]string{
		"":         "_type schema_version bundle_id created_at producer source runtime transcript tools permissions replay redaction attachments",
		"producer": "name version schema_id", "source": "kind run_record_id workflow_id task status", "runtime": "harn_version provider_models",
		"transcript": "sections", "tools": "schemas calls", "replay": "event_log_pointers transitions checkpoints trace_spans deterministic_events",
		"redaction": "mode policy placeholder entries unsafe_secret_markers_rejected",
	} {
		for _, name := range strings.Fields(names) {
			count++
			path := "$." + name
			if in != "" {
				path = "$." + in + "." + name
			}
			refused(func(v map[string]any) {
				if in != "" {
					v = v[in].(map[string]any)
				}
				delete(v, name)
			}, "missing_required at "+path)
		}
	}
	if count != 36 {
		t.Errorf("%d members, expected 36", count)
	}

	for raw, want := range map[string]string{"0": "unsupported_version", "2": "unsupported_version", "1.0": "invalid_type", `"1"`: "invalid_type"} {
		refused(func(v map[string]any) { v["schema_version"] = json.RawMessage(raw) }, want+" at $.schema_version")
	}
	refused(func(v map[string]any) { v["_type"] = "session_bundle" }, "invalid_type at $._type")
}
