package schemas_test

import (
	"strings"
	"testing"
)

const batch = `{"batch_version": 1, "profile": "content", "merkle_root": "` + digest + `",
	"receipts": [{"receipt_id": "r", "leaf_hash": "` + digest + `", "receipt_hash": "` + digest + `"}]}`

// TestBatch verifies the result for a manifest, and for many changes to it, one at a time.
func TestBatch(t *testing.T) {
	s := must(t, "batch")
	for _, c := range []struct {
		old, new string
		want     string // pointers of the problems; none if the document is accepted
	}{
		{``, ``, ``},
		{`"batch_version": 1`, `"batch_version": 1.0`, ``},
		{`"batch_version": 1`, `"batch_version": 2`, `/batch_version: expected 1, found a number`},
		{`"batch_version": 1, `, ``, `: missing member "batch_version"`},
		{`"content"`, `"checkpoint"`, `/profile: expected "content", found a string of 10 characters`},
		{`"merkle_root": "sha256:`, `"merkle_root": "SHA256:`, `/merkle_root: expected a string that matches ^sha256:[0-9a-f]{64}$, found a string of 71 characters`},
		{`"leaf_hash": "` + digest + `"`, `"leaf_hash": null`, `/receipts/0/leaf_hash: expected string, found null`},
		{`"receipt_id": "r"`, `"receipt_id": ""`, `/receipts/0/receipt_id: expected at least 1 character, found 0`},
		{`"receipt_id": "r"`, `"id": "r"`, `/receipts/0: missing member "receipt_id"; /receipts/0/id: unknown member "id"`},
		{`"profile"`, `"extra": 1, "profile"`, `/extra: unknown member "extra"`},
		{`"receipts": [`, `"receipts": [], "more": [`, `/more: unknown member "more"; /receipts: expected at least 1 element, found 0`},
	} {
		src := strings.Replace(batch, c.old, c.new, 1)
		if c.old != "" && src == batch {
			t.Errorf("nothing to change at %s", c.old)
		}
		var got []string
		for _, p := range check(t, s, src).Problems {
			got = append(got, p.Pointer+": "+p.Detail)
		}
		if joined := strings.Join(got, "; "); joined != c.want {
			t.Errorf("with %s:\n%s\nwant\n%s", c.new, joined, c.want)
		}
	}
}
