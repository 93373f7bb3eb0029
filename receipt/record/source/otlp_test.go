package source_test

import (
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// TestSpans verifies that nested spans represent a single model call unless there is a tool between
// them, and that all forms of the same spans lead to the same draft.
func TestSpans(t *testing.T) {
	text, err := os.ReadFile("testdata/spans.json")
	if err != nil {
		t.Fatal(err)
	}
	d := tryRead(t, text)
	if c := d.AutonomyBudget.Consumed; *c.InputTokens != 107 || *c.OutputTokens != 12 || *c.ToolCalls != 1 {
		t.Errorf("consumed %d, %d, %d", *c.InputTokens, *c.OutputTokens, *c.ToolCalls)
	}
	if d.Lifecycle.FinalState != "SUCCEEDED" || d.SideEffects.ToolCalls[0].Status != "failed" || d.ModelRoute.ChosenModel.Model != "gpt-4.1-mini" {
		t.Errorf("%s, %+v, %+v", d.Lifecycle.FinalState, d.SideEffects.ToolCalls, d.ModelRoute)
	}

	squeezed := strings.Join(strings.Fields(string(text)), "")
	for what, form := range map[string]string{
		"on one line": squeezed, "in an array": "[" + squeezed + "]", "in an array, with lines": "[\n" + string(text) + "\n]\n",
		"twice": squeezed + "\n" + squeezed + "\n", "twice, with lines": string(text) + string(text), "in an array, twice": "[" + squeezed + ",\n" + squeezed + "]",
		"as Tempo has it": strings.Replace(squeezed, "resourceSpans", "batches", 1), "with a byte order mark": "\ufeff" + string(text),
	} {
		got := tryRead(t, []byte(form))
		if got == nil {
			t.Errorf("%s: not read", what)
			continue
		}
		alike(t, what, got, d)
		if source.Sight([]byte(form)).Kind != otlpJSON {
			t.Errorf("%s: not recognized", what)
		}
	}
}

// TestDecisions verifies that a person's decision is an approval or a denial, and that a decision
// that results from the configuration is neither.
func TestDecisions(t *testing.T) {
	text, err := os.ReadFile("testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	d := tryRead(t, text)
	got := ""
	for _, a := range d.Approvals {
		got += a.Action + " " + a.Decision + " " + a.Actor + "\n"
	}
	if want := "Bash approved user\nWrite denied user\n"; got != want {
		t.Errorf("approvals %q, want %q", got, want)
	}
	r := read(t, d)
	if r.untold["/approvals"] || d.Cost.Total != 0.0125 || *d.AutonomyBudget.Consumed.InputTokens != 83 {
		t.Errorf("%v, cost %v, %d tokens", r.untold, d.Cost.Total, *d.AutonomyBudget.Consumed.InputTokens)
	}
	for i, want := range []string{"succeeded", "failed", "denied"} {
		if got := r.status(i); got != want && !(want == "denied" && got == "canceled") {
			t.Errorf("call %d %s, want %s", i, got, want)
		}
	}
	if strings.Contains(asText(t, d), "someone@example.com") {
		t.Error("the draft has the e-mail address of a user")
	}
}

// TestDecisionsInPart verifies that the list of approvals is marked as incomplete if a decision is
// unknown or does not refer to a call.
func TestDecisionsInPart(t *testing.T) {
	decision := func(pairs ...string) string {
		text := `{"key":"event.name","value":{"stringValue":"claude_code.tool_decision"}}`
		for i := 0; i < len(pairs); i += 2 {
			text += `,{"key":"` + pairs[i] + `","value":{"stringValue":"` + pairs[i+1] + `"}}`
		}
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1777111200000000000","attributes":[` + text + `]}]}]}]}`
	}
	known := decision("tool_name", "Bash", "tool_use_id", "t1", "decision", "accept", "source", "user_temporary")
	for name, test := range map[string]struct {
		second string
		floor  bool
	}{
		"of a call":          {decision("tool_name", "Edit", "tool_use_id", "t2", "decision", "reject", "source", "user_reject"), false},
		"by a rule":          {decision("tool_name", "Edit", "tool_use_id", "t2", "decision", "later", "source", "config"), false},
		"of no call":         {decision("tool_name", "Edit", "decision", "accept", "source", "user_temporary"), true},
		"by nobody named":    {decision("tool_name", "Edit", "tool_use_id", "t2", "decision", "reject"), true},
		"by an unknown one":  {decision("tool_name", "Edit", "tool_use_id", "t2", "decision", "reject", "source", "board"), true},
		"of an unknown word": {decision("tool_name", "Edit", "tool_use_id", "t2", "decision", "later", "source", "user"), true},
	} {
		r := toldOf(t, []string{known, test.second})
		if len(r.Approvals) == 0 || r.untold["/approvals"] != test.floor || r.floor["/approvals"] != test.floor {
			t.Errorf("%s: %+v, unreported: %v, at least: %v", name, r.Approvals, r.untold["/approvals"], r.floor["/approvals"])
		}
	}
}
