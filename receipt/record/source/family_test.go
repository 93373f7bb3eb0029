package source_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// These are the kinds, with the names that callers use.
const (
	claudeStream source.Kind = "claude-stream-json"
	claudeAction source.Kind = "claude-code-action"
	codexExec    source.Kind = "codex-exec-json"
	otlpJSON     source.Kind = "otlp-json"
)

func asText(t testing.TB, v any) string {
	t.Helper()
	if d, ok := v.(*receipt.Draft); ok {
		text, err := record.JSON(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text, err := json.Marshal(v)
	if err == nil {
		text, err = canon.Transform(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFamilies verifies that a session and the files of its agents form one task, as do a session
// and its continuation. A line that occurs in several files must be counted once.
func TestFamilies(t *testing.T) {
	dir := vectors.Dir(t, "sources")
	for _, family := range []struct{ session, others string }{
		{"claude-transcript-spotter/ae4a77f8-aedd-4bc1-888f-c94edc91af04", "ae4a77f8-aedd-4bc1-888f-c94edc91af04/subagents/*.jsonl"},
		{"claude-transcript-vscode-copilot-chat/b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093", "b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093/subagents/*.jsonl"},
	} {
		name := filepath.Join(dir, family.session)
		files := append([]string{name + ".jsonl"}, vectors.Files(t, 2, filepath.Dir(name), family.others)...)
		var f facts
		readJSON(t, name+".family.expected.json", &f.family)
		familyIs(t, f.family, draftOf(t, files...))
	}

	dir = filepath.Join(dir, "claude-transcript-vscode-copilot-chat", "resumed")
	files := vectors.Files(t, 2, dir, "*-*.jsonl")
	var f facts
	readJSON(t, filepath.Join(dir, "family.expected.json"), &f.family)
	d := draftOf(t, files...)
	familyIs(t, f.family, d)
	if d.Identifiers.SessionID != "b02ed4d8-1f00-45cc-949f-3ea63b2dbde2" {
		t.Errorf("session %s", d.Identifiers.SessionID)
	}
}

// TestFork verifies that a forked session has only the usage since the fork, and that this usage is
// unknown if the other session is missing.
func TestFork(t *testing.T) {
	dir := filepath.Join(vectors.Dir(t, "sources"), "codex-rollout-codexbar", "fork")
	var f struct {
		Both modelFacts `json:"tokens_of_both"`
	}
	readJSON(t, filepath.Join(dir, "family.expected.json"), &f)
	parent, child := filepath.Join(dir, "parent.jsonl"), filepath.Join(dir, "child.jsonl")
	for _, files := range [][]string{{parent, child}, {child, parent}, {parent, child, parent}} {
		r := read(t, draftOf(t, files...))
		same(t, "input", r.AutonomyBudget.Consumed.InputTokens, f.Both.input())
		same(t, "output", r.AutonomyBudget.Consumed.OutputTokens, f.Both.output())
		r.apart(t, "both", f.Both, r.Cost.ProviderBreakdown...)
	}
}

func familyIs(t *testing.T, f familyFacts, d *receipt.Draft) {
	t.Helper()
	r, calls := read(t, d), 0
	r.tokens(t, facts{Models: f.Models, Tokens: f.Tokens})
	for _, x := range f.Family {
		calls += x.Calls
	}
	if got := len(d.SideEffects.ToolCalls); got != calls || len(d.SideEffects.FSWrites) != f.Writes {
		t.Errorf("%d calls and %d writes, want %d and %d", got, len(d.SideEffects.FSWrites), calls, f.Writes)
	}
	if r.floor["/side_effects/tool_calls"] != (len(f.Without) > 0) {
		t.Errorf("at least the calls that are recorded: %v", r.floor["/side_effects/tool_calls"])
	}
}

// TestKinds verifies that logs from two sources cannot form one task, and that other files are not
// recognized as logs.
func TestKinds(t *testing.T) {
	open := func(text string) source.Input { return source.Input{Name: "x", Reader: strings.NewReader(text)} }
	const transcript, stream = `{"type":"user","sessionId":"s","timestamp":"2026-01-01T00:00:00Z"}`, `{"type":"system","subtype":"init","session_id":"s"}`
	var mixed *source.MixedError
	if _, err := source.Read([]source.Input{open(transcript), open(stream)}, options()); !errors.As(err, &mixed) || mixed.Other != source.ClaudeTranscript || mixed.Is != claudeStream {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{"", "\n", "{}", "[]", "x", `{"event":"task.started"}`} {
		if _, err := source.Read([]source.Input{open(text)}, options()); !errors.Is(err, source.ErrUnknown) {
			t.Errorf("%q: %v", text, err)
		}
		if k := source.Sight([]byte(text)).Kind; k != source.Unknown {
			t.Errorf("%q is %s", text, k)
		}
	}
	for text, want := range map[string]source.Kind{transcript: source.ClaudeTranscript, "{\"fixture\":1}\nnonsense\n" + stream: claudeStream} {
		if k := source.Sight([]byte(text)).Kind; k != want {
			t.Errorf("%q is %s, want %s", text, k, want)
		}
	}
	o := options()
	o.From = "nobody"
	if _, err := source.Read([]source.Input{open(transcript)}, o); err == nil || !strings.Contains(err.Error(), "claude-transcript") {
		t.Errorf("got %v", err)
	}
	o.From = string(claudeStream)
	if got, err := source.Read([]source.Input{open(transcript + "\n" + stream)}, o); err != nil || got.Kind != claudeStream {
		t.Errorf("got %v", err)
	}
}
