package source_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// statements maps rows of the pages in docs/sources to locations in a receipt.
func statements() map[string]string {
	return map[string]string{
		"cost": "/cost/total", "model": "/model_route/chosen_model/model", "provider": "/model_route/chosen_model/provider",
		"input tokens": "/autonomy_budget/consumed/input_tokens", "start time": "/lifecycle/started_at",
		"tier": "/trust/start_tier", "outcome": "/lifecycle/final_state",
	}
}

// pageOf returns the statements in each column of a page, indexed by row.
func pageOf(t *testing.T, name string) (columns []map[string]string) {
	t.Helper()
	text := readFile(t, filepath.Join("../../../docs/sources", name+".md"))
	var none []string
	for line := range strings.Lines(text) {
		if list, ok := strings.CutPrefix(strings.TrimSuffix(line, ".\n"), "Not recorded: "); ok {
			none = strings.Split(list, ", ")
		}
		row, ok := strings.CutPrefix(strings.TrimSuffix(line, " |\n"), "| ")
		cells := strings.Split(row, " | ")
		if !ok {
			continue
		}
		for i, cell := range cells[1:] {
			if len(columns) == i {
				columns = append(columns, map[string]string{})
			}
			columns[i][cells[0]] = cell
		}
	}
	for _, rows := range columns {
		for _, row := range none {
			rows[row] = "no"
		}
	}
	return columns
}

// TestPages verifies that each family of logs has a page. A column must state that a value is not
// recorded if and only if no log in testdata or among the public logs records it. If there are more
// kinds than columns, the remaining kinds share the last column.
func TestPages(t *testing.T) {
	vectors.Dir(t, "sources-2")
	reported, kinds := map[source.Kind]map[string]bool{}, map[string][]source.Kind{}
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
	for _, name := range source.Names() {
		if kind := source.Kind(name); source.IsOf(kind, name) {
			kinds[familyOf(kind)] = append(kinds[familyOf(kind)], kind)
		}
	}

	index := readFile(t, "../../../docs/sources.md")
	for page, of := range kinds {
		if !strings.Contains(index, "(sources/"+page+".md)") {
			t.Errorf("docs/sources.md has no link to the page of %s", page)
		}
		columns := pageOf(t, page)
		if len(columns) == 0 || len(columns) > len(of) {
			t.Fatalf("docs/sources/%s.md has %d columns for %s", page, len(columns), of)
		}
		for i, rows := range columns {
			share, checked := of[i:], 0
			if i < len(columns)-1 {
				share = share[:1]
			}
			for row, at := range statements() {
				says, stated := rows[row]
				if !stated {
					continue
				}
				checked++
				if recorded := slices.ContainsFunc(share, func(k source.Kind) bool { return reported[k][at] }); recorded == (says == "no") {
					t.Errorf("docs/sources/%s.md states for %s %q: %q, and a log records it: %v", page, share, row, says, recorded)
				}
			}
			if checked < 3 {
				t.Errorf("docs/sources/%s.md, column %d: %d statements", page, i+1, checked)
			}
		}
	}
}

// familyOf returns the name of a kind's family. In the result of Names, the family's name precedes
// the names of its kinds.
func familyOf(k source.Kind) string {
	names := source.Names()
	return names[slices.IndexFunc(names, func(name string) bool { return source.IsOf(k, name) })]
}
