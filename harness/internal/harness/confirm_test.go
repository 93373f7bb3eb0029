package harness_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// TestConfirmed verifies that only the exact words approve a call. If another parser could
// interpret the same bytes as an approval, the answer is not an approval, and the call is not made.
func TestConfirmed(t *testing.T) {
	dir := t.TempDir()
	_, c := start(t, options(t, dir))
	c.begin()
	for value, status := range map[string]int{
		`{"approved":false,"Approved":true}`: 201, `{"approved":true,"accepted":false}`: 201, `{"approved":true,"decision":"deny"}`: 201,
		`{"Approved":true}`: 400, `{"approved":"true"}`: 400, `{"approved":1}`: 400, `{"approved":null}`: 400, `{"approved":false,"approved":true}`: 400, `[true]`: 400,
	} {
		task := c.submit("/write water the beans")
		c.reach(task, "AUTH_REQUIRED")
		answer := object{"role": "user", "parts": []object{{"type": "json", "value": json.RawMessage(value), "visibility": "public"}}}
		c.post("/v1/tasks/"+task+"/messages", status, object{"kind": "tool_confirmation", "message": answer})
		if status == 201 {
			c.reach(task, "COMPLETED")
			if r := c.receipt(task); len(r.Approvals) != 1 || r.Approvals[0].Decision != "denied" || len(r.SideEffects.FSWrites) != 0 {
				t.Errorf("%s: %+v, %+v", value, r.Approvals, r.SideEffects)
			}
		}
	}
	if notes, _ := filepath.Glob(filepath.Join(dir, "notes", "*")); len(notes) != 0 {
		t.Errorf("%q", notes)
	}
}
