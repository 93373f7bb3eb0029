package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// described is a script that returns what a page states about a receipt, in the layout of the
// command "receipt show".
const described = `(() => {
	const text = (selector) => document.querySelector(selector)?.textContent ?? "";
	const rows = [...document.querySelectorAll(".described > div")].flatMap((row) => [...row.querySelectorAll("dd")].map((dd, i) => (i > 0 ? "" : row.querySelector("dt").textContent).padEnd(14) + dd.textContent));
	return [...[text(".answer .title"), text(".answer .sentence")].filter((line) => line !== ""), "", ...rows].join("\n") + "\n";
})()`

// testShow verifies that the page, the printed report, and the view of "receipt browse" contain
// exactly the title, the headline, and the rows that the command "receipt show" prints.
func testShow(t *testing.T, browser context.Context, url string) {
	command, b := buildReceipt(t), open(t, browser, url)
	for _, file := range []string{
		fixture(t, "valid/task.json"), fixture(t, "valid/full.json"), fixture(t, "valid/task-failed.json"), fixture(t, "valid/task-replay.json"), fixture(t, "edge/contradictions.json"),
		fixture(t, "malicious/changed-cost.json"), busy(t),
	} {
		name := filepath.Base(file)
		shown, _ := exec.Command(command, "show", file).Output() // a changed receipt is shown, too
		b.drop(file)
		b.wait(`document.querySelector("#outcome > :not([data-old]) .about")?.textContent.startsWith(` + quote(name) + `)`)
		same(t, name+" on the page", string(shown), eval[string](b, described))

		report := filepath.Join(t.TempDir(), "report.html")
		if out, err := exec.Command(command, "verify", file, "--integrity-only", "--quiet", "--report", report).CombinedOutput(); len(out) > 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		plain := load(t, browser, "file://"+report)
		same(t, name+" in the report", string(shown), eval[string](plain, described))

		site := filepath.Join(t.TempDir(), "site")
		if out, err := exec.Command(command, "browse", file, "--integrity-only", "--output", site).CombinedOutput(); !strings.Contains(string(out), "view: ") {
			t.Fatalf("%v\n%s", err, out)
		}
		view := load(t, browser, "file://"+filepath.Join(site, "index.html"))
		view.wait(`document.querySelector(".rows a")`)
		eval[bool](view, `document.querySelector(".rows a").click(), true`)
		view.wait(`document.querySelector(".page .verdict")`)
		same(t, name+" in the view", string(shown), eval[string](view, described))
	}
}

// same fails unless the lines of a page are successive lines in the output of "receipt show".
func same(t *testing.T, name, shown, got string) {
	t.Helper()
	if len(strings.Split(got, "\n")) < 5 || !strings.Contains("\n"+shown, "\n"+got) {
		t.Errorf("%s stands:\n%s\nreceipt show prints:\n%s", name, got, shown)
	}
}

// busy writes a receipt with many entries of each kind, failures, gaps, and hostile names.
func busy(t *testing.T) string {
	t.Helper()
	d := draft(7)
	d.Approvals = []receipt.Approval{{ApprovalID: "a", Action: "push", Actor: "robin", Decision: "denied", DecidedAt: d.IssuedAt}}
	for i := range 30 {
		status := []string{"succeeded", "failed", "succeeded", "canceled"}[i%4]
		d.SideEffects.ToolCalls = append(d.SideEffects.ToolCalls, receipt.ToolCall{Tool: []string{"Bash", "Edit", "mcp__" + hostile}[i%3], CallID: fmt.Sprint(i), Status: status})
		d.SideEffects.FSWrites = append(d.SideEffects.FSWrites, receipt.FileWrite{Path: fmt.Sprint("src/\u202efile-", i%11, ".go"), Operation: "modify", AfterSHA256: receipt.OptionalDigest{Digest: canon.Sum([]byte{byte(i)})}})
	}
	metadata := `{"title":"Fix the flaky test \u2066of <b>login</b>","unreported":["/approvals","/cost/total","/side_effects/tool_calls/1/status"],
		"ignored_records":{"shiny_event":2},"write_continuity":{"pairs":1,"held":0,"broken":1,"unchecked":0,"changed_outside":[{"path":"src/lib.rs","from_call":"1","to_call":"2","note":"n"}]}}`
	if err := json.Unmarshal([]byte(metadata), &d.Metadata); err != nil {
		t.Fatal(err)
	}
	sealed, err := receipt.Seal(d, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "busy.json", string(sealed.JSON()))
}
