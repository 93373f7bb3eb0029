package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
)

// states are what the page can look like.
func states(b *tab, stream string, visit func(name string)) {
	visit("start")
	b.drop(fixture(b.T, "valid/task.json"), fixture(b.T, "keys/trust.json"))
	b.expect("Verified", "Unchanged", "Signer confirmed")
	visit("verified")
	b.click("#tamper")
	b.expect("Refuted", "Changed", "Signer not confirmed")
	visit("demonstration")
	b.click("#undo")
	b.expect("Verified", "Unchanged", "Signer confirmed")
	b.drop(fixture(b.T, "malicious/other-key-signed.json"))
	b.expect("Refuted", "Unchanged", "Signature forged")
	visit("forged")
	b.drop(stream)
	b.expect("Refuted")
	visit("many")
}

// testAccessibility lets axe-core judge every state, light and dark, wide and
// narrow (WCAG 2.2, levels A and AA, and its best practices).
func testAccessibility(t *testing.T, browser context.Context, url, stream string) {
	path := os.Getenv("AXE")
	needs(t, "axe-core: $AXE names no file", path == "")
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, browser, url)
		b.scheme(scheme)
		eval[bool](b, string(axe)+"\n;true")
		states(b, stream, func(name string) {
			for _, width := range []int64{1100, 360} {
				b.size(width, 800)
				found := eval[[]string](b, `axe.run().then(({ violations }) => violations.map((v) =>
					v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? n.all[0]?.message ?? "")).join("; ")))`)
				if len(found) > 0 {
					t.Errorf("%s, %s, %d wide:\n%s", name, scheme, width, strings.Join(found, "\n"))
				}
				if over := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("%s, %d wide: %d pixels do not fit", name, width, over)
				}
			}
			b.size(1100, 900)
		})
		b.quiet()
	}
}

// testLooks keeps pictures of every state, for $SCREENSHOTS.
func testLooks(t *testing.T, browser context.Context, url, stream string) {
	if os.Getenv("SCREENSHOTS") == "" {
		t.Skip("nobody looks")
	}
	for name, width := range map[string]int64{"light": 1100, "dark": 1100, "phone": 390} {
		b := open(t, browser, url)
		if name == "dark" {
			b.scheme("dark")
		}
		states(b, stream, func(state string) {
			b.size(width, 900)
			b.picture(state + "-" + name)
			b.size(1100, 900)
		})
	}
}
