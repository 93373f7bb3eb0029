package bundle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// The entries below were written by hand according to the rules of the format, not copied from the
// output of the code.

func redactedAt(paths ...string) (list []bundle.Entry) {
	for _, p := range paths {
		list = append(list, bundle.Entry{Path: p, Class: "sensitive_field", Replacement: "[redacted]"})
	}
	return list
}

func withheldAt(paths ...string) (list []bundle.Entry) {
	for _, p := range paths {
		list = append(list, bundle.Entry{Path: p, Class: "prompt_or_tool_payload", Replacement: "[withheld]"})
	}
	return list
}

func byPath(lists ...[]bundle.Entry) []bundle.Entry {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b bundle.Entry) int { return strings.Compare(a.Path, b.Path) })
	return all
}

const (
	anchor  = "metadata.workspace_anchor.primary"
	apiKey  = "messages[1].tool_calls[0].arguments.api_key"
	inRun   = "$.replay.run_record.transcript."
	section = "$.transcript.sections[0]."
)

// ofRun returns the entries for testdata/run.json after sanitizing: three anchors, two paths in the
// record, and the key in both copies of the transcript.
func ofRun() []bundle.Entry {
	return redactedAt("$.source.persisted_path", "$.replay.run_record.persisted_path",
		"$.workspace.primary", section+anchor, inRun+anchor, section+apiKey, inRun+apiKey)
}

// withheldOfRun returns the entries that the mode replay_only adds.
func withheldOfRun() []bundle.Entry {
	list := withheldAt("$.source.task", "$.replay.run_record.task",
		"$.permissions[0].payload.prompt", "$.permissions[1].payload.text", "$.replay.run_record.hitl_questions[0].prompt",
		"$.tools.calls[0].result", "$.tools.calls[1].result",
		"$.replay.run_record.tool_recordings[0].result", "$.replay.run_record.tool_recordings[1].result",
		"$.replay.run_record.artifacts[0].data", "$.replay.run_record.artifacts[0].text",
		"$.replay.run_record.stages[0].transcript.messages[0].content", "$.transcript.sections[1].messages[0].content")
	for _, in := range []string{section, inRun} {
		list = append(list, withheldAt(in+"summary", in+"messages[0].content", in+"messages[1].content",
			in+"messages[1].tool_calls[0].arguments", in+"events[1].text")...)
	}
	return list
}

// ofLocal returns the entries for testdata/local.json.
func ofLocal() []bundle.Entry {
	const message = "$.transcript.sections[0].messages"
	return slices.Concat(
		redactedAt("$.source.persisted_path", `$.runtime.metadata["X-Api-Key"]`, "$.workspace.primary",
			"$.workspace.additional_roots[0].path", "$.workspace.additional_roots[1].path", message+"[1].content.password"),
		[]bundle.Entry{
			{Path: "$.replay.event_log_pointers[0].path", Class: "local_pointer_path", Replacement: "[redacted]"},
			{Path: "$.replay.observability.transcript_pointers[0].path", Class: "local_pointer_path", Replacement: "[redacted]"},
			{Path: "$.replay.observability.transcript_pointers[0].more.path", Class: "local_pointer_path", Replacement: "[redacted]"},
			{Path: message + "[0].content", Class: "secret_pattern_or_url", Replacement: "the page is https://example.org/a"},
			{Path: message + "[1].content.url", Class: "secret_pattern_or_url", Replacement: "https://example.org/a?token=%5Bredacted%5D&page=2"},
			{Path: message + "[2].note", Class: "secret_pattern_or_url", Replacement: "key <redacted:aws_access_key:20>, and again <redacted:aws_access_key:20>"},
			{Path: message + `[2]["odd name"]`, Class: "secret_pattern_or_url", Replacement: "<redacted:npm_token:40>"},
			{Path: "$.attachments[0].text", Class: "secret_pattern_or_url", Replacement: "<redacted:bearer_token:22>"},
		},
	)
}

func TestEntriesOfRun(t *testing.T) {
	run := file(t, "run.json")
	same(t, "local", exported(t, run, bundle.Options{Mode: bundle.Local}).Entries, []bundle.Entry{})
	same(t, "sanitized", exported(t, run, bundle.Options{}).Entries, byPath(ofRun()))
	same(t, "replay_only", exported(t, run, bundle.Options{Mode: bundle.ReplayOnly}).Entries, byPath(ofRun(), withheldOfRun()))
	same(t, "strict", exported(t, run, bundle.Options{Mode: bundle.ReplayOnly, Strict: true}).Entries,
		byPath(ofRun(), withheldOfRun(), withheldAt("$.replay.replay_fixture.stage_assertions[0].visible_text_contains",
			"$.replay.run_record.replay_fixture.stage_assertions[0].visible_text_contains")))
	same(t, "attachments", exported(t, run, bundle.Options{Mode: bundle.ReplayOnly, Attachments: true}).Entries,
		byPath(ofRun(), withheldOfRun(), withheldAt("$.attachments[0].data", "$.attachments[0].text")))
}

func TestEntriesOfBundle(t *testing.T) {
	local := file(t, "local.json")
	same(t, "sanitized", sanitized(t, local, bundle.Sanitized, false).Entries, byPath(ofLocal()))

	// A replacement inside a string is not listed if the entire string is withheld later.
	payload := ofLocal()
	for i, e := range payload {
		if e.Path == "$.attachments[0].text" || e.Path == "$.transcript.sections[0].messages[0].content" || e.Path == "$.transcript.sections[0].messages[1].content.url" {
			payload[i].Replacement = "[withheld]"
		}
	}
	gone := withheldAt("$.source.task", "$.transcript.sections[0].messages[0].content", "$.transcript.sections[0].messages[1].content",
		"$.tools.calls[0].result", "$.attachments[0].text")
	same(t, "replay_only", sanitized(t, local, bundle.ReplayOnly, false).Entries, byPath(payload, gone))
	same(t, "strict", sanitized(t, local, bundle.ReplayOnly, true).Entries, byPath(payload, gone,
		withheldAt("$.replay.deterministic_events[0].value.input", "$.replay.deterministic_events[0].value.message")))
}

func same(t *testing.T, what string, got, want []bundle.Entry) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	t.Errorf("%s: %d entries, expected %d", what, len(got), len(want))
	for _, e := range got {
		if !slices.Contains(want, e) {
			t.Errorf("  not expected: %q", e)
		}
	}
	for _, e := range want {
		if !slices.Contains(got, e) {
			t.Errorf("  missing: %q", e)
		}
	}
}

// TestManifest verifies that the bundle contains every listed replacement, and that entries have
// the members that the format defines.
func TestManifest(t *testing.T) {
	for _, test := range []struct {
		mode   bundle.Mode
		strict bool
		policy string
	}{
		{bundle.Local, false, "none"},
		{bundle.Sanitized, false, "harn_vm::redact::RedactionPolicy::default+session_bundle_local_paths"},
		{bundle.ReplayOnly, false, "harn_vm::redact::RedactionPolicy::default+session_bundle_local_paths"},
		{bundle.ReplayOnly, true, "harn_vm::redact::RedactionPolicy::default+session_bundle_local_paths+strict_replay_only"},
	} {
		text := exported(t, file(t, "run.json"), bundle.Options{Mode: test.mode, Strict: test.strict})
		got := at(t, tree(t, text.Bytes()), "redaction").(map[string]any)
		if got["mode"] != string(test.mode) || got["policy"] != test.policy || got["placeholder"] != "[redacted]" || got["unsafe_secret_markers_rejected"] != (test.mode != bundle.Local) {
			t.Errorf("%s: %v", test.mode, got)
		}
		for i, e := range got["entries"].([]any) {
			m, want := e.(map[string]any), text.Entries[i]
			action := "replaced"
			if want.Class == "prompt_or_tool_payload" {
				action = "withheld"
			}
			if len(m) != 4 || m["path"] != want.Path || m["class"] != string(want.Class) || m["action"] != action || m["replacement"] != want.Replacement {
				t.Errorf("%s: entry %d is %v, expected %v", test.mode, i, m, want)
			}
		}
		if n := len(got["entries"].([]any)); n != len(text.Entries) {
			t.Errorf("%s: %d entries, listed are %d", test.mode, len(text.Entries), n)
		}
	}
}
