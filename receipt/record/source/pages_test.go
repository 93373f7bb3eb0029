package source_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// statements are rows of the pages in docs/sources, with the place that a row is about.
func statements() map[string]string {
	return map[string]string{
		"cost": "/cost/total", "model": "/model_route/chosen_model/model", "provider": "/model_route/chosen_model/provider",
		"input tokens": "/autonomy_budget/consumed/input_tokens", "start time": "/lifecycle/started_at",
		"tier": "/trust/start_tier", "outcome": "/lifecycle/final_state",
	}
}

// pageOf returns the statements of a page for a column, by row.
func pageOf(t *testing.T, name string, column int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../docs/sources", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(strings.TrimSuffix(line, ".\n"), "Not recorded: "); ok {
			for word := range strings.SplitSeq(list, ", ") {
				rows[word] = "no"
			}
		}
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) > column {
			rows[strings.TrimPrefix(cells[0], "| ")] = strings.TrimSuffix(cells[column], " |\n")
		}
	}
	return rows
}

// TestPages verifies that each kind of log has a page, and that the page states that a value is
// not recorded if, and only if, no log in testdata or among the public logs records it.
func TestPages(t *testing.T) {
	vectors.Dir(t, "sources-2")
	reported := map[source.Kind]map[string]bool{}
	for _, log := range samples(t) {
		kind := source.Sight(log).Kind
		if reported[kind] == nil {
			reported[kind] = map[string]bool{}
		}
		r := read(t, tryRead(t, log))
		for _, at := range statements() {
			reported[kind][at] = reported[kind][at] || !listed(r.untold, at)
		}
	}

	for kind, x := range map[source.Kind]struct {
		page   string
		column int
	}{
		source.ClaudeTranscript: {"claude", 1}, claudeStream: {"claude", 2}, source.CodexRollout: {"codex", 1}, codexExec: {"codex", 2}, otlpJSON: {"otlp", 1},
		"copilot-cli": {"copilot", 1}, "opencode": {"opencode", 1}, "gemini-cli": {"gemini", 1}, "atif": {"atif", 1}, "pi": {"pi", 1},
	} {
		rows, checked := pageOf(t, x.page, x.column), 0
		for row, at := range statements() {
			says, stated := rows[row]
			if !stated {
				continue
			}
			if checked++; reported[kind][at] == (says == "no") {
				t.Errorf("docs/sources/%s.md states for %s %q: %q, and a log records it: %v", x.page, kind, row, says, reported[kind][at])
			}
		}
		if checked < 3 {
			t.Errorf("docs/sources/%s.md: %d statements", x.page, checked)
		}
	}

	// Every family has a page, which the index of the pages links.
	index := readFile(t, "../../../docs/sources.md")
	for _, name := range source.Names() {
		if kind := slices.Contains([]string{"claude", "codex", "otlp", "copilot", "opencode", "gemini", "atif", "pi"}, name); kind && !strings.Contains(index, "(sources/"+name+".md)") {
			t.Errorf("docs/sources.md has no link to the page of %s", name)
		}
	}
}
