package bridge_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// session returns the lines of a log that a runtime wrote while it communicated with its host over
// pipes. The host approves one call and denies another, and then the runtime waits for its user.
func session(t *testing.T) []string {
	t.Helper()
	log, err := os.ReadFile("testdata/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(log)))
}

func recordSession(lines []string) (*record.Log, error) {
	o := record.Options{Issuer: receipt.Issuer{ID: "harness_example_cloud"}, TaskID: "task_garden", WorkspaceRef: "garden", Tier: "act_with_approval"}
	return record.Read(strings.NewReader(strings.Join(lines, "")), o, record.FormFrames)
}

// TestSession verifies that the draft from a session's log contains exactly the runtime's actions.
func TestSession(t *testing.T) {
	l, err := recordSession(session(t))
	if err != nil {
		t.Fatal(err)
	}
	if c := l.Counts.Frames; c.Unknown+c.Unmatched+c.OtherSessions != 0 {
		t.Errorf("%+v", c)
	}
	d := l.Draft
	if _, err := receipt.Seal(d, chain.Head{}); err != nil {
		t.Fatal(err)
	}

	calls, approvals := d.SideEffects.ToolCalls, d.Approvals
	if d.Lifecycle.FinalState != "SUCCEEDED" || len(calls) != 2 || len(approvals) != 2 {
		t.Fatalf("%+v, %+v, %+v", d.Lifecycle, calls, approvals)
	}
	if c := calls[0]; c.CallID != "call_1" || c.Tool != "garden.water" || c.Status != "succeeded" ||
		c.InputHash != canon.Sum([]byte(`{"plant":"beans"}`)) || c.OutputHash != canon.Sum([]byte(`{"litres":2}`)) {
		t.Errorf("%+v", c)
	}
	if c := calls[1]; c.CallID != "call_2" || c.Status != "canceled" || !c.OutputHash.IsZero() {
		t.Errorf("%+v", c)
	}
	if approvals[0].Decision != "approved" || approvals[1].Decision != "denied" {
		t.Errorf("%+v", approvals)
	}
	for _, at := range []string{"/approvals/0/actor", "/cost/total", "/model_route/chosen_model"} { // in no frame
		if !slices.Contains(d.Metadata["unreported"].([]any), any(at)) {
			t.Errorf("%s is reported: %v", at, d.Metadata["unreported"])
		}
	}
}

// TestSessionWithoutAFrame verifies that a draft makes no additional claims if any one frame is
// missing.
func TestSessionWithoutAFrame(t *testing.T) {
	lines := session(t)
	l, err := recordSession(lines)
	if err != nil {
		t.Fatal(err)
	}
	all, drafts := claims(l.Draft), 0
	for i := range lines {
		l, err := recordSession(slices.Delete(slices.Clone(lines), i, i+1))
		if err != nil {
			continue // for example, because the end is missing
		}
		drafts++
		for _, claim := range claims(l.Draft) {
			if !slices.Contains(all, claim) && !strings.HasSuffix(claim, " <nil>") && !strings.HasSuffix(claim, "{}") {
				t.Errorf("without %s: %s", lines[i], claim)
			}
		}
	}
	if drafts < len(lines)-4 {
		t.Errorf("%d drafts of %d lines", drafts, len(lines))
	}
}

// claims returns the statements in a draft on which a reader could rely.
func claims(d *receipt.Draft) (list []string) {
	for _, c := range d.SideEffects.ToolCalls {
		list = append(list, fmt.Sprint(c.CallID, " in ", c.InputHash), fmt.Sprint(c.CallID, " out ", c.OutputHash))
		if c.Status == "succeeded" {
			list = append(list, c.CallID+" succeeded")
		}
	}
	for _, a := range d.Approvals {
		if a.Decision == "approved" {
			list = append(list, a.ApprovalID+" approved "+a.Action)
		}
	}
	return append(list, d.Lifecycle.FinalState)
}
