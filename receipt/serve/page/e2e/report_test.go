package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport filters the report, follows a link to an entry, and runs axe-core.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	report := filepath.Join(t.TempDir(), "audit.html")
	cmd := exec.Command(buildReceipt(t), "verify", ".", "--keys", fixture(t, "keys/trust.json"), "--quiet", "--report", report)
	cmd.Dir = writeTree(t, 600)
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 { // the altered receipt is refuted
		t.Fatalf("%s\n%s", cmd.ProcessState, out)
	}

	b := load(t, start(t), "file://"+report)
	shows := func(text, status string) {
		b.Helper()
		eval[bool](b, `(() => { const field = document.querySelector(".filter input"); field.value = `+quote(text)+`; field.dispatchEvent(new Event("input")); return true; })()`)
		b.wait(`document.querySelector(".filter [role=status]").textContent === ` + quote(status))
	}
	shows("", "9 of 9 entries shown") // entries: two refuted receipts and seven streams
	shows("Hash_Mismatch", "1 of 9 entries shown")
	if n := eval[int](b, `[...document.querySelectorAll(".findings > li")].filter((e) => e.checkVisibility()).length`); n != 1 {
		t.Errorf("%d findings are visible", n)
	}
	shows("workspace-5", "1 of 9 entries shown")
	shows("", "9 of 9 entries shown")

	address := eval[string](b, `document.querySelector(".finding-head a").getAttribute("href")`)
	b.click(".finding-head a")
	if !strings.HasPrefix(address, "#receipt-") || !eval[bool](b, `document.querySelector(".findings > li:target") !== null`) {
		t.Errorf("the first entry has the address %s", address)
	}
	if path := os.Getenv("AXE"); path != "" {
		axe, err := os.ReadFile(path)
		b.must(err)
		eval[bool](b, string(axe)+"\n;true")
		b.judge("report", `{}`)
		b.size(390, 800)
		b.judge("report, narrow", `{}`)
	}
	b.picture("report")
	b.quiet()
}
