package conformance

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of the docs again")

// TestDocs verifies that the documentation lists all probes, grouped by suite.
func TestDocs(t *testing.T) {
	const file = "../../docs/conformance.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for _, of := range []Suite{Upstream, Ours} {
		begin := fmt.Sprintf("<!-- probes: %s -->\n", of)
		before, rest, found := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, "<!-- end -->\n")
		if !found || !ended {
			t.Fatalf("%s has no place for the probes of %s", file, of)
		}
		want = before + begin + tableOf(of) + "<!-- end -->\n" + after
	}
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s has other probes; write it again: go test ./conformance -run TestDocs -update", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func tableOf(of Suite) string {
	var b strings.Builder
	b.WriteString("| Category | Probe | Requirement | Source |\n|---|---|---|---|\n")
	category := ""
	for _, p := range Probes() {
		if p.Suite != of {
			continue
		}
		shown := ""
		if p.Category != category {
			shown, category = "`"+p.Category+"`", p.Category
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", shown, p.Name, p.Rule.Text, strings.ReplaceAll(p.Rule.Where, "|", "\\|"))
	}
	return b.String()
}
