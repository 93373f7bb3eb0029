package headline_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/headline"
)

// rowsOf returns the rows of a receipt.
func rowsOf(t testing.TB, text []byte) []headline.Row {
	t.Helper()
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return headline.Read(doc.Root()).Headline().Rows
}

// rowTexts returns the contents of the rows that have the given label.
func rowTexts(rows []headline.Row, label string) (list []string) {
	on := false
	for _, r := range rows {
		if on = r.Label == label || on && r.Label == ""; on {
			list = append(list, r.Text.String())
		}
	}
	return list
}

func rowText(rows []headline.Row, label string) string {
	return strings.Join(rowTexts(rows, label), "\n")
}

// checkRows compares the numbers in the rows with numbers that are counted independently in the
// JSON text.
func (c counter) checkRows(t *testing.T, name string, rows []headline.Row) {
	t.Helper()
	c.checkTools(t, name, rowText(rows, "Tools"))
	for _, one := range []struct {
		label, list, noun string
		thing             func(map[string]any, func(string) bool) string
	}{
		{"Files", "fs_writes", "write", func(e map[string]any, hidden func(string) bool) string { return named(e, "path", hidden) }},
		{"Network", "network_egress", "request", func(e map[string]any, hidden func(string) bool) string {
			return hostIn(named(e, "destination", hidden))
		}},
	} {
		counts := map[string]int{}
		c.each(one.list, func(e map[string]any, hidden func(string) bool) { counts[one.thing(e, hidden)]++ })
		texts := rowTexts(rows, one.label)
		texts = slices.DeleteFunc(texts, func(text string) bool { return strings.HasPrefix(text, "changed outside the listed writes: ") })
		if len(counts) > 8 {
			if got, want := texts[len(texts)-1], fmt.Sprintf("and %d more %s", len(counts)-8, map[string]string{"Files": "file", "Network": "host"}[one.label]); strings.TrimSuffix(got, "s") != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			texts = texts[:len(texts)-1]
		}
		if len(texts) != min(len(counts), 8) {
			t.Errorf("%s: %s has %d rows, want %d: %q", name, one.label, len(texts), len(counts), texts)
		}
		for _, text := range texts {
			thing := ""
			for candidate := range counts {
				if candidate != "" && strings.HasPrefix(text, candidate+", ") && len(candidate) > len(thing) {
					thing = candidate
				}
			}
			noun := one.noun
			if counts[thing] != 1 {
				noun += "s"
			}
			if want := fmt.Sprintf(", %d %s", counts[thing], noun); !strings.Contains(text+",", want+",") {
				t.Errorf("%s: %q has no %q", name, text, want)
			}
			delete(counts, thing)
		}
	}
}

// each calls visit for each entry whose effect happened.
func (c counter) each(list string, visit func(map[string]any, func(string) bool)) {
	for i, e := range listOf(c.root, "side_effects", list) {
		place := fmt.Sprintf("/side_effects/%s/%d", list, i)
		if m, _ := e.(map[string]any); !slices.Contains(c.untold, place) {
			visit(m, func(member string) bool { return slices.Contains(c.untold, place+"/"+member) })
		}
	}
}

// category returns the error category of a call.
func category(call map[string]any) any {
	m, _ := call["metadata"].(map[string]any)
	return m["error_category"]
}

// checkTools compares the row about tools with the distinct calls of each tool and the outcomes of
// these calls.
func (c counter) checkTools(t *testing.T, name, got string) {
	t.Helper()
	denied := map[string]bool{}
	for i, e := range listOf(c.root, "approvals") {
		if m, _ := e.(map[string]any); m["decision"] == "denied" && !slices.Contains(c.untold, fmt.Sprintf("/approvals/%d/decision", i)) {
			id, _ := m["approval_id"].(string)
			denied[id] = true
		}
	}

	rank := []string{"failed", "denied", "canceled", "of unknown outcome", "succeeded"}
	ends := map[string]map[string]int{} // outcome with the highest rank, indexed by tool and call
	c.each("tool_calls", func(e map[string]any, hidden func(string) bool) {
		tool, id := named(e, "tool", hidden), named(e, "call_id", hidden)
		end, _ := e["status"].(string)
		switch {
		case hidden("status") || end != "failed" && end != "canceled" && end != "succeeded":
			end = "of unknown outcome"
		case end == "canceled" && (id != "" && denied[id] || category(e) == "permission_denied"):
			end = "denied"
		}
		if id == "" {
			id = fmt.Sprintf("unique %p", e)
		}
		if ends[tool] == nil {
			ends[tool] = map[string]int{}
		}
		worst, again := ends[tool][id]
		if at := slices.Index(rank, end); !again || at < worst {
			ends[tool][id] = at
		}
	})

	var want []string
	for tool, calls := range ends {
		counts := map[int]int{}
		for _, end := range calls {
			counts[end]++
		}
		if tool == "" {
			tool = "unnamed tools"
		}
		text := fmt.Sprintf("%s %d", tool, len(calls))
		var others []string
		for end, word := range rank[:4] {
			if counts[end] > 0 {
				others = append(others, fmt.Sprintf("%d %s", counts[end], word))
			}
		}
		if len(others) > 0 {
			text += " (" + strings.Join(others, ", ") + ")"
		}
		want = append(want, text)
	}
	if list := strings.Split(got, " · "); len(ends) > 0 && len(ends) <= 20 && !slices.Equal(slices.Sorted(slices.Values(list)), slices.Sorted(slices.Values(want))) || len(ends) == 0 && got != "" {
		t.Errorf("%s: tools are %q, want %q", name, got, want)
	}
}

// TestRows verifies the rows, each for one fact in a receipt.
func TestRows(t *testing.T) {
	for _, test := range []struct{ name, receipt, label, want string }{
		{"operations", `"side_effects":{"fs_writes":[{"path":"a","operation":"create"},{"path":"a","operation":"modify"},{"path":"b","operation":"modify"}]}`, "Files", "a, create, 2 writes\nb, 1 write"},
		{"a change outside", `"metadata":{"write_continuity":{"changed_outside":[{"path":"b"},{"path":"a"},{"path":"b"}]}}`, "Files", "changed outside the listed writes: b, a"},
		{"failures first", `"side_effects":{"tool_calls":[{"tool":"Read","status":"succeeded"},{"tool":"Read","status":"succeeded"},{"tool":"Bash","status":"failed"}]}`, "Tools", "Bash 1 (1 failed) · Read 2"},
		{"a call without permission", `"side_effects":{"tool_calls":[{"tool":"Bash","call_id":"1","status":"canceled","metadata":{"error_category":"permission_denied"}},{"tool":"Bash","call_id":"2","status":"canceled","metadata":{"error_category":"sibling_failed"}}]}`, "Tools", "Bash 2 (1 denied, 1 canceled)"},
		{"a denied call", `"side_effects":{"tool_calls":[{"tool":"Bash","call_id":"1","status":"canceled"},{"tool":"Bash","call_id":"2","status":"canceled"}]},"approvals":[{"approval_id":"1","decision":"denied"}]`, "Tools", "Bash 2 (1 denied, 1 canceled)"},
		{"bytes by host", `"side_effects":{"network_egress":[{"destination":"https://a/x","bytes_sent":1},{"destination":"a","bytes_sent":2},{"destination":"b"}]}`, "Network", "a, 2 requests, 3 bytes sent\nb, 1 request"},
		{"decisions", `"approvals":[{"action":"x","actor":"u","decision":"denied"},{"action":"x","actor":"u","decision":"denied"},{"action":"y","decision":"timeout"}]`, "Approvals", "x denied by u, 2 times\ny timed out by an actor that is not stated"},
		{"a model and its tokens", `"model_route":{"chosen_model":{"provider":"p","model":"m"}},"autonomy_budget":{"consumed":{"input_tokens":1800,"output_tokens":7}},"metadata":{"unreported":["/autonomy_budget/consumed/output_tokens"]}`, "Model", "p m, 1,800 input tokens, at least 7 output tokens"},
		{"tokens that are not recorded", `"model_route":{"chosen_model":{"provider":"p","model":"m"}},"autonomy_budget":{"consumed":{"input_tokens":0}},"metadata":{"unreported":["/autonomy_budget/consumed/input_tokens"]}`, "Model", "p m"},
		{"two models", `"cost":{"provider_breakdown":[{"model":"m","input_tokens":1},{"model":"n","output_tokens":2}]}`, "Model", "m, 1 input tokens\nn, 2 output tokens"},
		{"unrecorded", `"side_effects":{"fs_writes":[{"path":"a"}],"network_egress":[{"destination":"h"}]},"metadata":{"unreported":["/approvals","/cost/total","/side_effects/fs_writes","/side_effects/fs_writes/0/before_sha256","/lifecycle/completed_at","/x"]}`, "Not recorded", "approvals, cost, end time, further file changes, contents of some files, other values, bytes sent"},
		{"nothing unrecorded", ended, "Not recorded", ""},
		{"unread", `"metadata":{"ignored_records":{"shiny_event":2}}`, "Not read", "2 records of 1 unknown type were not read: shiny_event"},
		{"withheld", `"redactions":[{"reason":"token"},{"reason":"path"},{"reason":"token"}]`, "Withheld", "3 values: token 2, path 1"},
		{"an origin", `"receipt_id":"r","issuer":{"id":"i","name":"I"},"issued_at":"2026-04-25T19:17:33Z","metadata":{"source":{"kind":"claude-transcript","versions":["2.1"]}}`, "Receipt", `r, issued by i "I" on 2026-04-25 at 19:17:33 UTC, from claude-transcript 2.1`},
	} {
		if got := rowText(rowsOf(t, []byte("{"+test.receipt+"}")), test.label); got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
}

// TestTitle verifies the first line of the description.
func TestTitle(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "",
		`{"identifiers":{"workspace_ref":"shop.0123abcd"},"lifecycle":{"started_at":"2026-04-25T19:16:14+02:00"}}`:                                   "shop · 2026-04-25 17:16 UTC",
		`{"metadata":{"title":"Fix it","source":{"git_branches":["a","b"]}},"identifiers":{"workspace_ref":"shop"}}`:                                 "Fix it · shop, branch a, b",
		`{"metadata":{"title":"[redacted]","unreported":["/lifecycle/started_at"]},"lifecycle":{"started_at":"2026-04-25T19:16:14Z"},"x":{"y":"z"}}`: "",
	} {
		doc, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := headline.Read(doc.Root()).Headline().Title.String(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestRowsOfForeign verifies that the description of a receipt with long and numerous values has a
// bounded length.
func TestRowsOfForeign(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	effects := map[string][]any{}
	for i := range 30 {
		unique := fmt.Sprint(i, long)
		effects["fs_writes"] = append(effects["fs_writes"], map[string]any{"path": unique, "operation": unique})
		effects["tool_calls"] = append(effects["tool_calls"], map[string]any{"tool": unique, "status": unique})
		effects["network_egress"] = append(effects["network_egress"], map[string]any{"destination": unique})
		effects["a2a_handoffs"] = append(effects["a2a_handoffs"], map[string]any{"target_agent": unique, "status": unique})
	}
	list := effects["fs_writes"]
	text, err := json.Marshal(map[string]any{
		"side_effects": effects, "approvals": list, "redactions": list, "final_artifacts": list, "receipt_id": long, "issuer": map[string]any{"id": long, "name": long},
		"cost":        map[string]any{"provider_breakdown": list},
		"model_route": map[string]any{"chosen_model": map[string]any{"model": long}, "alternatives_considered": []any{map[string]any{"model": long, "reason": long}}},
		"lifecycle":   map[string]any{"failure": map[string]any{"code": long}},
		"metadata": map[string]any{"title": long, "unreported": []any{"/" + long, "/identifiers/" + long, "/autonomy_budget/limit/" + long}, "write_continuity": map[string]any{"changed_outside": list},
			"source": map[string]any{"kind": long, "versions": []any{long}, "git_branches": []any{long, long}}, "ignored_records": map[string]any{long: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, text)
	size := 0
	for _, r := range rows {
		size += len(r.Text.String())
	}
	if len(rows) > 60 || size > 30_000 {
		t.Errorf("%d rows of %d bytes", len(rows), size)
	}
	labels := map[string]bool{}
	for _, r := range rows {
		labels[r.Label] = true
	}
	if len(labels) < 12 {
		t.Errorf("labels are %q", slices.Sorted(maps.Keys(labels)))
	}
}
