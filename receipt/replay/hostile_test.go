package replay_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// TestManyFindings verifies that a report lists a bounded number of findings, and that these do not
// hide a finding that refutes the receipt. If the time for a check grew with the square of the
// number of findings, this test would take minutes.
func TestManyFindings(t *testing.T) {
	p := plan(t, readLog(t, garden().bytes()), ``)
	text, err := json.Marshal(recorded(t, events(t, p, replay.Run{TaskID: "task_2"})))
	if err != nil {
		t.Fatal(err)
	}
	var d members
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	var artifacts, entries []any
	for i := range 100_000 {
		artifacts = append(artifacts, members{"artifact_id": fmt.Sprint(i), "kind": "file"})
		entries = append(entries, members{"field": fmt.Sprint("/final_artifacts/", i), "reason": "secret"})
	}
	d["final_artifacts"], d["redactions"] = artifacts, entries
	if text, err = json.Marshal(d); err != nil {
		t.Fatal(err)
	}
	doc := sealText(t, text)
	rep, _ := check(t, p, doc)
	if rep.Verdict != receipt.Refuted || len(rep.Checks) > 300 || len(rep.NotChecked) > 300 {
		t.Errorf("%s, %d checks, %d notes", rep.Verdict, len(rep.Checks), len(rep.NotChecked))
	}
}
