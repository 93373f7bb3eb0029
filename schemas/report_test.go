package schemas_test

import (
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/schemas"
)

const report = `{"report_version": 1, "verdict": "refuted", "scope": "full", "source": "r.json", "index": 1, "receipt_id": "r",
	"receipt_hash": "` + digest + `", "input_sha256": "` + digest + `", "at": "2026-04-25T19:17:33Z",
	"checks": [{"check": "hash", "status": "failed", "code": "hash_mismatch", "pointer": "/chain/receipt_hash", "stated": "a", "computed": "b", "detail": "", "hint": ""}],
	"signatures": [{"key_id": "k", "algorithm": "ed25519", "status": "valid", "role": "issuer", "code": "", "detail": ""}],
	"not_checked": [{"code": "link_not_checked", "pointer": "", "detail": "x"}], "warnings": []}`

const summary = `{"report_version": 1, "verdict": "refuted", "scope": "full", "complete": true, "receipts": 3, "verified": 2, "refuted": 1, "undecided": 0,
	"codes": {"hash_mismatch": 1}, "copies": 0, "skipped": [{"source": "README.md", "detail": "not a receipt"}],
	"streams": [{"stream": {"issuer": "i", "tenant": null, "workspace": "w"}, "count": 3, "first_previous": null, "head": "` + digest + `", "failures": 1}],
	"inputs": {"files": 1, "bytes": 9}, "keys": {"path": "keys.json", "sha256": "` + digest + `", "count": 2},
	"tool": "receipt 1.0", "started": "2026-04-25T19:17:33Z", "finished": "2026-04-25T19:17:33Z"}`

// TestReports verifies the result for one document of each kind. It also makes many changes to each
// document, one at a time, and verifies the result of each change.
func TestReports(t *testing.T) {
	envelope := `{"reports": [` + report + `], "summary": ` + summary + `}`
	for _, c := range []struct {
		name     schemas.Name
		document string
		old, new string
		want     string // pointer of the only problem; empty if the document is accepted
	}{
		{"report", report, ``, ``, ``},
		{"report", report, `"refuted"`, `"undecided"`, ``},
		{"report", report, `"full"`, `"integrity"`, ``},
		{"report", report, `"receipt_hash": "` + digest + `", `, ``, ``},
		{"report", report, `"at": "2026-04-25T19:17:33Z",`, ``, ``},
		{"report", report, `, "code": "", "detail": ""}`, `, "code": ""}`, ``},
		{"report", report, `"refuted"`, `"intact"`, `/verdict: expected one of "verified", "refuted", "undecided", found a string of 6 characters`},
		{"report", report, `"index": 1`, `"index": 0`, `/index: expected at least 1, found less`},
		{"report", report, `"check": "hash"`, `"check": "lint"`, `/checks/0/check: expected one of "parse", "schema", "hash", "link", "batch", "signatures", "redactions", "rules", found a string of 4 characters`},
		{"report", report, `"failed"`, `"skipped"`, `/checks/0/status: expected one of "passed", "failed", "not_checked", "not_applicable", found a string of 7 characters`},
		{"report", report, `"valid"`, `"passed"`, `/signatures/0/status: expected one of "valid", "invalid", "not_checked", found a string of 6 characters`},
		{"report", report, `"hint": ""`, `"hint": "", "extra": 1`, `/checks/0/extra: unknown member "extra"`},
		{"report", report, `"warnings": []`, `"warnings": null`, `/warnings: expected array, found null`},
		{"report", report, `"hash_mismatch"`, `"Hash Mismatch"`, `/checks/0/code: expected a string that matches ^[a-z0-9_]*$, found a string of 13 characters`},
		{"report", report, `"report_version": 1`, `"report_version": 2`, `/report_version: expected 1, found a number`},
		{"summary", summary, ``, ``, ``},
		{"summary", summary, `"keys": {"path": "keys.json", "sha256": "` + digest + `", "count": 2}`, `"keys": null`, ``},
		{"summary", summary, `"first_previous": null`, `"first_previous": "` + digest + `"`, ``},
		{"summary", summary, `"tenant": null`, `"tenant": "t"`, ``},
		{"summary", summary, `"tenant": null, `, ``, `/streams/0/stream: missing member "tenant"`},
		{"summary", summary, `{"hash_mismatch": 1}`, `{"Hash": 1}`, `/codes/Hash: unknown member "Hash"`},
		{"summary", summary, `{"hash_mismatch": 1}`, `{"hash_mismatch": 0}`, `/codes/hash_mismatch: expected at least 1, found less`},
		{"summary", summary, `"complete": true`, `"complete": null`, `/complete: expected boolean, found null`},
		{"summary", summary, `"copies"`, `"copied"`, `: missing member "copies"; /copied: unknown member "copied"`},
		{"verify", envelope, ``, ``, ``},
		{"verify", `{"reports": [], "summary": ` + summary + `}`, ``, ``, ``},
		{"verify", envelope, `"index": 1`, `"index": 0`, `/reports/0/index: expected at least 1, found less`},
		{"verify", envelope, `"copies": 0`, `"copies": -1`, `/summary/copies: expected at least 0, found less`},
		{"verify", `{"reports": []}`, ``, ``, `: missing member "summary"`},
	} {
		src := strings.Replace(c.document, c.old, c.new, 1)
		if c.old != "" && src == c.document {
			t.Errorf("%s: nothing to change at %s", c.name, c.old)
		}
		var got []string
		for _, p := range check(t, must(t, c.name), src).Problems {
			got = append(got, p.Pointer+": "+p.Detail)
		}
		if joined := strings.Join(got, "; "); joined != c.want {
			t.Errorf("%s with %s:\n%s\nwant\n%s", c.name, c.new, joined, c.want)
		}
	}
}
