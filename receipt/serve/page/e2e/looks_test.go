package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
)

// states visits each state of the page.
func states(b *tab, stream string, visit func(name string)) {
	visit("start")
	b.click("#example")
	b.expect("Verified", "Unchanged", "Signer confirmed")
	visit("example")
	b.click("#tamper")
	b.expect("Refuted", "Changed", "Signer not confirmed")
	visit("demonstration")
	b.click("#undo")
	b.expect("Verified", "Unchanged", "Signer confirmed")
	b.drop(fixture(b.T, "valid/full.json"), fixture(b.T, "keys/trust.json"))
	b.expect("Verified", "Unchanged", "Signer confirmed")
	visit("verified")
	b.click("#outcome .technical > summary")
	visit("technical")
	b.drop(fixture(b.T, "malicious/other-key-signed.json"))
	b.expect("Refuted", "Matches its own hash", "Signature forged")
	visit("forged")
	b.drop(writeFile(b.T, "invoice.pdf", "%PDF-1.7\n"))
	b.wait(`document.querySelector("#outcome .stranger")`)
	visit("stranger")
	b.drop(fixture(b.T, "valid/task.json"), fixture(b.T, "malicious/changed-cost.json"), fixture(b.T, "malicious/unknown-key.json"), writeFile(b.T, "letter.pdf", "%PDF-1.7\n"))
	b.expect("Refuted")
	visit("several")
	b.drop(stream)
	b.expect("Refuted")
	visit("many")
}

// unfolded is a script that opens all sections of the page, measures by how many pixels the open
// page is wider than the screen, and closes the sections again.
const unfolded = `(() => {
	const folded = [...document.querySelectorAll("details:not([open])")];
	for (const one of folded) one.open = true;
	const over = document.documentElement.scrollWidth - innerWidth;
	for (const one of folded) one.open = false;
	return over;
})()`

// testAccessibility runs axe-core on every state, in wide and narrow windows (WCAG 2.2, levels A
// and AA, and best practices), and checks the contrast in dark mode.
func testAccessibility(t *testing.T, browser context.Context, url, stream string) {
	path := os.Getenv("AXE")
	needs(t, "axe-core: $AXE names no file", path == "")
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for scheme, only := range map[string]string{"light": `{}`, "dark": `{runOnly: ["color-contrast"]}`} {
		b := open(t, browser, url)
		b.scheme(scheme)
		eval[bool](b, string(axe)+"\n;true")
		states(b, stream, func(name string) {
			b.judge(name+", "+scheme, only)
			if scheme == "light" {
				b.size(390, 800)
				b.judge(name+", narrow", only)
				for _, width := range []int64{390, 700, 900} {
					b.size(width, 800)
					if over := eval[int](b, unfolded); over > 0 {
						t.Errorf("%s: %d pixels do not fit on a screen of %d", name, over, width)
					}
				}
				b.size(1100, 900)
			}
		})
		b.quiet()
	}
}

// judge runs axe-core on the current content of the page.
func (b *tab) judge(name, options string) {
	b.Helper()
	found := eval[struct {
		Passes     int
		Violations []string
	}](b, `axe.run(`+options+`).then(({ passes, violations }) => ({ passes: passes.length, violations: violations.map((v) =>
		v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? n.all[0]?.message ?? "")).join("; ")) }))`)
	if found.Passes == 0 {
		b.Errorf("%s: axe-core looked at nothing", name)
	}
	for _, v := range found.Violations {
		b.Errorf("%s: %s", name, v)
	}
}

// testLooks saves screenshots of every state to $SCREENSHOTS.
func testLooks(t *testing.T, browser context.Context, url, stream string) {
	if os.Getenv("SCREENSHOTS") == "" {
		t.Skip("nobody looks")
	}
	for name, width := range map[string]int64{"light": 1440, "dark": 1440, "phone": 390, "phone-dark": 390} {
		b := open(t, browser, url)
		if strings.HasSuffix(name, "dark") {
			b.scheme("dark")
		}
		states(b, stream, func(state string) {
			b.size(width, 900)
			b.picture(state + "-" + name)
			b.size(1100, 900)
			if name == "light" {
				b.media("print")
				b.picture(state + "-paper")
				b.media("")
			}
		})
	}
}
