package serve_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
)

// TestUntoldTask verifies that the placeholder for an unreported task is not treated as a task.
// Receipts that share only the placeholder must not be listed together, but receipts that share a
// task must.
func TestUntoldTask(t *testing.T) {
	named := func(id, subject, task string, untold ...string) []byte {
		d := receiptDraft(id, task)
		d.Subject.ID, d.Identifiers.SessionID = subject, "session_of_"+id
		d.Identifiers.WorkspaceRef = "workspace_of_" + id
		if untold != nil {
			d.Metadata = receipt.Object{"unreported": untold}
		}
		return signedBehind(t, d, canon.Digest{})
	}
	o := options(t)
	o.Source = openFiles(t, map[string][]byte{"a.jsonl": servetest.Lines(
		named("untold_first", "bundle", "unknown", "/identifiers/task_id"),
		named("told", "bundle", "unknown"),
		named("untold", "bundle", "unknown", "/identifiers"),
		named("subject", "unknown", "other", "/identifiers/task_id"),
		named("untold_subject", "unknown", "other", "/subject"),
		named("untold_last", "bundle", "unknown", "/cost", "/identifiers/task_id"),
	)})
	h := start(t, o)

	list := func(task, query string) (ids []string, next string) {
		got := h.get("/v1/tasks/"+task+"/receipts"+query, version()...)
		var page struct{ Data []struct{ ID string } }
		if err := json.Unmarshal(got.body, &page); err != nil || got.status != 200 {
			t.Fatalf("%d %v %s", got.status, err, got.body)
		}
		for _, one := range page.Data {
			ids = append(ids, one.ID)
		}
		return ids, nextCursor(t, got)
	}
	for task, want := range map[string][]string{
		"unknown": {"told", "subject"}, "other": {"untold_subject"}, "bundle": {"untold_first", "told", "untold", "untold_last"},
	} {
		if ids, _ := list(task, ""); !slices.Equal(ids, want) {
			t.Errorf("%s: %q, expected %q", task, ids, want)
		}
	}

	// A page may continue after a skipped receipt, because such a receipt does not end the list.
	var ids []string
	for query := "?limit=1"; ; {
		some, next := list("unknown", query)
		if ids = append(ids, some...); next == "" {
			break
		}
		query = "?limit=1&cursor=" + next
	}
	if want := []string{"told", "subject"}; !slices.Equal(ids, want) {
		t.Errorf("one at a time: %q, expected %q", ids, want)
	}

	// The summary line must not contain the placeholder either.
	for id, want := range map[string]string{"told": "SUCCEEDED task bundle", "untold_subject": "SUCCEEDED"} {
		if got := h.get("/v1/receipts/"+id, version()...).object(t)["summary"]; got != want {
			t.Errorf("%s: %q, expected %q", id, got, want)
		}
	}
}
