package receipt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestLint verifies that each contradiction is reported once, with its location, and that near
// contradictions are not reported. No warning changes the verdict.
func TestLint(t *testing.T) {
	keys := testKeys()
	at := func(d time.Duration) receipt.Time { return receipt.At(noon.Add(d)) }
	cost := func(total float64, amounts ...float64) func(*receipt.Draft) {
		return func(d *receipt.Draft) {
			d.Cost.Total = total
			for _, a := range amounts {
				d.Cost.ProviderBreakdown = append(d.Cost.ProviderBreakdown, receipt.ProviderCost{Provider: "p", Amount: a})
			}
		}
	}
	for name, c := range map[string]struct {
		edit   func(*receipt.Draft)
		policy receipt.Policy
		want   string // each warning's code and pointer
	}{
		"nothing": {func(*receipt.Draft) {}, receipt.Policy{}, ""},
		"in order": {func(d *receipt.Draft) {
			d.Lifecycle.CreatedAt, d.Lifecycle.StartedAt = at(-3), at(-2)
			d.Lifecycle.CompletedAt, d.IssuedAt = at(-1), at(0)
		}, receipt.Policy{}, ""},
		"started before created":   {func(d *receipt.Draft) { d.Lifecycle.CreatedAt = at(time.Hour); d.Lifecycle.StartedAt = at(0) }, receipt.Policy{}, "time_order /lifecycle/started_at"},
		"completed before started": {func(d *receipt.Draft) { d.Lifecycle.CompletedAt = at(-time.Hour) }, receipt.Policy{}, "time_order /lifecycle/completed_at"},
		"issued before completed":  {func(d *receipt.Draft) { d.IssuedAt = at(-time.Hour) }, receipt.Policy{}, "time_order /issued_at"},
		"backwards": {func(d *receipt.Draft) {
			d.Lifecycle.CreatedAt, d.Lifecycle.StartedAt = at(0), at(-time.Hour)
			d.Lifecycle.CompletedAt, d.IssuedAt = at(-2*time.Hour), at(-3*time.Hour)
		}, receipt.Policy{}, "time_order /lifecycle/started_at, time_order /lifecycle/completed_at, time_order /issued_at"},
		"first in year zero": {func(d *receipt.Draft) {
			d.Lifecycle.StartedAt = receipt.At(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
		}, receipt.Policy{}, ""},

		"issued now":              {func(*receipt.Draft) {}, receipt.Policy{Now: noon}, ""},
		"issued later":            {func(*receipt.Draft) {}, receipt.Policy{Now: noon.Add(-1)}, "issued_later /issued_at"},
		"issued at the time":      {func(*receipt.Draft) {}, receipt.Policy{At: noon}, ""},
		"issued after the time":   {func(*receipt.Draft) {}, receipt.Policy{At: noon.Add(-1)}, "issued_later /issued_at"},
		"issued after both times": {func(*receipt.Draft) {}, receipt.Policy{At: noon.Add(-1), Now: noon.Add(-1)}, "issued_later /issued_at"},

		"failed and said":      {func(d *receipt.Draft) { d.Lifecycle.FinalState, d.Lifecycle.Failure = "FAILED", receipt.Object{} }, receipt.Policy{}, ""},
		"failed, not said":     {func(d *receipt.Draft) { d.Lifecycle.FinalState = "FAILED" }, receipt.Policy{}, "failure_state /lifecycle/failure"},
		"canceled with reason": {func(d *receipt.Draft) { d.Lifecycle.FinalState, d.Lifecycle.Failure = "CANCELED", receipt.Object{} }, receipt.Policy{}, "failure_state /lifecycle/failure"},

		"no providers":   {cost(5), receipt.Policy{}, ""},
		"a rounded sum":  {cost(0.3, 0.1, 0.2), receipt.Policy{}, ""},
		"nearly the sum": {cost(1, 1.0000009), receipt.Policy{}, ""},
		"below the sum":  {cost(1, 1.000002), receipt.Policy{}, "cost_sum /cost/total"},
		"above the sum":  {cost(1, 0.999998), receipt.Policy{}, "cost_sum /cost/total"},

		"calls counted":              {func(d *receipt.Draft) { d.AutonomyBudget.Consumed.ToolCalls = ptr[int64](0) }, receipt.Policy{}, ""},
		"a call denied, not counted": {counted(1), receipt.Policy{}, ""},
		"a call canceled, counted":   {counted(2), receipt.Policy{}, ""},
		"too few calls counted":      {counted(0), receipt.Policy{}, "counts_differ /autonomy_budget/consumed/tool_calls"},
		"too many calls counted":     {counted(3), receipt.Policy{}, "counts_differ /autonomy_budget/consumed/tool_calls"},

		"calls not counted": {func(d *receipt.Draft) { d.SideEffects.ToolCalls = calls("c") }, receipt.Policy{}, ""},
		"calls miscounted":  {func(d *receipt.Draft) { d.AutonomyBudget.Consumed.ToolCalls = ptr[int64](1) }, receipt.Policy{}, "counts_differ /autonomy_budget/consumed/tool_calls"},

		"no replay": {func(d *receipt.Draft) { d.ReplayInput.Determinism = "unavailable" }, receipt.Policy{}, "unavailable_reason /replay_input"},
		"no replay, said": {func(d *receipt.Draft) {
			d.ReplayInput.Determinism = "unavailable"
			d.ReplayInput.UnavailableReason = "r"
		}, receipt.Policy{}, ""},
		"a replay, not said": {func(d *receipt.Draft) { d.ReplayInput.UnavailableReason = "r" }, receipt.Policy{}, "unavailable_reason /replay_input/unavailable_reason"},

		"a total not told":        {untold(cost(0, 0.5), "unreported", "/cost/total"), receipt.Policy{}, ""},
		"a cost not told":         {untold(cost(0, 0.5), "unreported", "/cost"), receipt.Policy{}, ""},
		"an amount not told":      {untold(cost(0.5, 0.1), "unreported", "/cost/provider_breakdown/0/amount"), receipt.Policy{}, ""},
		"more than what was told": {untold(cost(0.5, 0.6), "unreported", "/cost/provider_breakdown/0/amount"), receipt.Policy{}, "cost_sum /cost/total"},
		"less than what was told": {untold(cost(0.5, 0.1), "unreported", "/cost/total"), receipt.Policy{}, "cost_sum /cost/total"},
		"a total at most":         {untold(cost(0.5, 0.1), "at_most", "/cost/total"), receipt.Policy{}, ""},
		"below the amounts":       {untold(cost(0.5, 0.6), "at_most", "/cost/total"), receipt.Policy{}, "cost_sum /cost/total"},
		"another total not told":  {untold(cost(0, 0.5), "unreported", "/cost/totals"), receipt.Policy{}, "cost_sum /cost/total"},
		"a count not told":        {untold(counted(0), "unreported", "/autonomy_budget/consumed/tool_calls"), receipt.Policy{}, ""},
		"calls not told":          {untold(counted(3), "unreported", "/side_effects/tool_calls"), receipt.Policy{}, ""},
		"fewer than were told":    {untold(counted(0), "unreported", "/side_effects/tool_calls"), receipt.Policy{}, "counts_differ /autonomy_budget/consumed/tool_calls"},
		"a count at most":         {untold(counted(3), "at_most", "/autonomy_budget/consumed/tool_calls"), receipt.Policy{}, ""},
		"a start not told":        {untold(func(d *receipt.Draft) { d.Lifecycle.CompletedAt = at(-time.Hour) }, "unreported", "/lifecycle/started_at"), receipt.Policy{}, ""},
		"an issue not told":       {untold(func(d *receipt.Draft) { d.IssuedAt = at(-time.Hour) }, "unreported", "/issued_at"), receipt.Policy{Now: noon.Add(-2 * time.Hour)}, ""},
		"an outcome not told":     {untold(func(d *receipt.Draft) { d.Lifecycle.FinalState = "FAILED" }, "unreported", "/lifecycle/final_state"), receipt.Policy{}, ""},
		"a failure not told":      {untold(func(d *receipt.Draft) { d.Lifecycle.FinalState = "FAILED" }, "unreported", "/lifecycle/failure"), receipt.Policy{}, ""},
		"a reason not told":       {untold(func(d *receipt.Draft) { d.ReplayInput.Determinism = "unavailable" }, "unreported", "/replay_input"), receipt.Policy{}, ""},

		"distinct ids": {func(d *receipt.Draft) { d.SideEffects.ToolCalls = calls("a", "b", "c") }, receipt.Policy{}, ""},
		"no ids":       {func(d *receipt.Draft) { d.Deltas = deltas("", "", "") }, receipt.Policy{}, ""},
		"calls":        {func(d *receipt.Draft) { d.SideEffects.ToolCalls = calls("a", "b", "a", "a") }, receipt.Policy{}, "repeated_id /side_effects/tool_calls/2/call_id, repeated_id /side_effects/tool_calls/3/call_id"},
		"deltas":       {func(d *receipt.Draft) { d.Deltas = deltas("a", "", "a") }, receipt.Policy{}, "repeated_id /deltas/2/delta_id"},
		"approvals": {func(d *receipt.Draft) {
			a := receipt.Approval{ApprovalID: "a", Actor: "x", Action: "y", Decision: "denied", DecidedAt: at(0)}
			d.Approvals = []receipt.Approval{a, a}
		}, receipt.Policy{}, "repeated_id /approvals/1/approval_id"},
		"materials": {func(d *receipt.Draft) {
			m := receipt.Material{Kind: "host_fact", ID: "m", Metadata: receipt.Object{}}
			d.ReplayInput.Materials = []receipt.Material{m, m}
		}, receipt.Policy{}, "repeated_id /replay_input/materials/1/id"},
		"artifacts": {func(d *receipt.Draft) {
			a := receipt.Artifact{ArtifactID: "a", Kind: "patch"}
			d.FinalArtifacts = []receipt.Artifact{a, a}
		}, receipt.Policy{}, "repeated_id /final_artifacts/1/artifact_id"},
		"the first hundred": {func(d *receipt.Draft) {
			ids := make([]string, 200)
			for i := range ids {
				ids[i] = fmt.Sprint(i)
			}
			ids[99], ids[100] = "0", "0"
			d.SideEffects.ToolCalls = calls(ids...)
		}, receipt.Policy{}, "repeated_id /side_effects/tool_calls/99/call_id"},
	} {
		d := plainDraft()
		c.edit(d)
		rep := verify(verifier(t, keys, c.policy), forge(t, d, keep, keys["a"]))
		var found []string
		for _, w := range rep.Warnings {
			found = append(found, string(w.Code)+" "+w.Pointer)
		}
		if got := strings.Join(found, ", "); got != c.want || rep.Verdict != receipt.Verified {
			t.Errorf("%s: %v with %q, want %q", name, rep.Verdict, got, c.want)
		}
	}
}

func calls(ids ...string) (list []receipt.ToolCall) {
	for _, id := range ids {
		list = append(list, receipt.ToolCall{Tool: "t", CallID: id, Status: "succeeded"})
	}
	return list
}

// untold returns an edit that applies edit and then sets a list in the metadata to contain only
// pointer.
func untold(edit func(*receipt.Draft), list, pointer string) func(*receipt.Draft) {
	return func(d *receipt.Draft) {
		edit(d)
		d.Metadata = receipt.Object{list: []any{pointer}}
	}
}

// counted returns an edit that lists a completed call and a canceled call, and sets the count to n.
func counted(n int64) func(*receipt.Draft) {
	return func(d *receipt.Draft) {
		d.SideEffects.ToolCalls = calls("a", "b")
		d.SideEffects.ToolCalls[1].Status = "canceled"
		d.AutonomyBudget.Consumed.ToolCalls = ptr(n)
	}
}

func deltas(ids ...string) (list []receipt.Delta) {
	for _, id := range ids {
		list = append(list, receipt.Delta{DeltaID: id, Operation: "add", Path: "/x"})
	}
	return list
}

// TestLintNeedsTheSchema verifies that a document that does not match the schema receives no
// warnings.
func TestLintNeedsTheSchema(t *testing.T) {
	keys := testKeys()
	data := forge(t, plainDraft(), func(o map[string]any) {
		o["x"] = 1
		o["lifecycle"].(map[string]any)["final_state"] = "FAILED"
	}, keys["a"])
	if rep := verify(verifier(t, keys, receipt.Policy{}), data); len(rep.Warnings) != 0 || len(rep.Signatures) != 0 {
		t.Errorf("%+v %+v", rep.Warnings, rep.Signatures)
	}
}

// TestNoInputDigest verifies that NoInputDigest omits the input's digest and nothing else.
func TestNoInputDigest(t *testing.T) {
	keys := testKeys()
	with, without := verifier(t, keys, receipt.Policy{}), verifier(t, keys, receipt.Policy{NoInputDigest: true})
	good := forge(t, plainDraft(), keep, keys["a"])
	for _, data := range [][]byte{nil, []byte("{"), []byte("{}"), good, good[1:], bytes.Replace(good, []byte("1"), []byte("2"), 1)} {
		want, got := verify(with, data), verify(without, data)
		if !got.InputSHA256.IsZero() || want.InputSHA256.IsZero() {
			t.Errorf("%.20q: %v, %v", data, got.InputSHA256, want.InputSHA256)
		}
		got.InputSHA256 = want.InputSHA256
		a, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(got); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%.20q: %v\n%s\n%s", data, err, a, b)
		}
	}
}

// TestReportNamesItsInput verifies that every report includes the input's digest, the computed hash
// if there is one, and the time for which the keys were checked.
func TestReportNamesItsInput(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	good := forge(t, plainDraft(), keep, keys["a"])
	for _, data := range [][]byte{nil, []byte("{"), []byte("[]"), []byte(" {} "), good, append(good, '\n')} {
		if rep := verify(v, data); rep.InputSHA256 != canon.Sum(data) || rep.Index != 1 {
			t.Errorf("%.20q: input %v, index %d", data, rep.InputSHA256, rep.Index)
		}
	}
	sealed, err := receipt.ParseSealed(good)
	if err != nil {
		t.Fatal(err)
	}
	rep := verify(v, good)
	if rep.ReceiptHash != sealed.Hash() || rep.ReceiptID.String() != "receipt_1" || !rep.At.Equal(noon) {
		t.Errorf("%v %s %v", rep.ReceiptHash, rep.ReceiptID, rep.At)
	}
	if got := verify(verifier(t, keys, receipt.Policy{At: noon.Add(time.Hour)}), good).At; !got.Equal(noon.Add(time.Hour)) {
		t.Errorf("at %v", got)
	}
}

// TestLintRoot verifies that a merkle_root equal to the receipt's own hash is reported, and that
// any other root is not.
func TestLintRoot(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	rooted := forge(t, plainDraft(), func(o map[string]any) { o["chain"].(map[string]any)["merkle_root"] = canon.Sum(nil).String() }, keys["a"])
	if rep := verify(v, rooted); len(rep.Warnings) != 0 {
		t.Errorf("another root: %+v", rep.Warnings)
	}
	rep := verify(v, selfRooted(forge(t, plainDraft(), keep, keys["a"])))
	if len(rep.Warnings) != 1 || rep.Warnings[0].Code != "circular_root" || rep.Warnings[0].Pointer != "/chain/merkle_root" {
		t.Errorf("its own hash: %+v", rep.Warnings)
	}
}
