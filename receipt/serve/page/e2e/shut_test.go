package e2e

import (
	"context"
	"strings"
	"testing"
)

// testShut verifies that the page blocks every attempt to send data or run other code. The monitor
// on which other tests rely must record each attempt.
func testShut(t *testing.T, browser context.Context, url, server string) {
	attempts := map[string]string{
		"fetch":     `fetch("SERVER/fetch").then(() => "sent", () => "refused")`,
		"image":     `new Promise((done) => { const i = new Image(); i.onload = () => done("sent"); i.onerror = () => done("refused"); i.src = "SERVER/image"; })`,
		"beacon":    `new Promise((done) => { addEventListener("securitypolicyviolation", () => done("refused")); navigator.sendBeacon("SERVER/beacon", "x"); })`,
		"markup":    `(() => { try { document.body.innerHTML = "<b>x</b>"; return "done"; } catch { return "refused"; } })()`,
		"script":    `(() => { const s = document.createElement("script"); s.append(document.createTextNode("globalThis.ran = true")); document.body.append(s); return globalThis.ran ? "ran" : "refused"; })()`,
		"worker":    `(() => { try { new Worker("SERVER/worker.js"); return "started"; } catch { return "refused"; } })()`,
		"policy":    `(() => { try { trustedTypes.createPolicy("other", {}); return "made"; } catch { return "refused"; } })()`,
		"evaluated": `(() => { try { return setTimeout("globalThis.late = true", 0) && "set"; } catch { return "refused"; } })()`,
	}
	for name, attempt := range attempts {
		b := open(t, browser, url)
		if got := eval[string](b, strings.ReplaceAll(attempt, "SERVER", server)); got != "refused" {
			t.Errorf("%s: %s", name, got)
		}
		b.mu.Lock()
		if len(b.noise) == 0 {
			t.Errorf("%s: not detected", name)
		}
		b.mu.Unlock()
	}
}
