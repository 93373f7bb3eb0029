package main

import (
	"strings"
	"testing"
)

func sample() tree {
	return tree{
		"docs/cli.txt":                        "The commands.\n\nreceipt\n  --color string = auto\n\nreceipt seal [FILE]\n  --key string\n",
		"docs/codes.md":                       "| `hash_mismatch` | refuted (exit 1) | text | text |\n",
		"schemas/report.schema.json":          `{"properties": {"verdict": {}}}`,
		"cmd/receipt/testdata/verify.txtar":   "exits 1 receipt verify a.json\n{\"source\":\"a.json\",\"code\":\"hash_mismatch\",\"pointer\":\"/chain/receipt_hash\"}\n",
		"cmd/receipt/testdata/bundle.txtar":   "exits 0 receipt bundle export run.json\n",
		"cmd/receipt/testdata/upstream/a.txt": "exits 9 receipt x\n",
	}
}

// TestCompare verifies that each kind of change is reported, and that new text and additions are
// not.
func TestCompare(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"docs/codes.md", "text | text", "a better text | text", ""},
		{"docs/cli.txt", "  --key string\n", "  --key string\n  --long bool = false\n", ""},
		{"docs/cli.txt", "auto", "never", "different: receipt --color: string = auto before, string = never now"},
		{"docs/cli.txt", "  --key string\n", "", "missing: receipt seal --key"},
		{"docs/cli.txt", "receipt seal [FILE]", "receipt close [FILE]", "missing: receipt seal"},
		{"docs/codes.md", "hash_mismatch", "hash_differs", "missing: hash_mismatch"},
		{"docs/codes.md", "refuted (exit 1)", "undecided (exit 3)", "different: hash_mismatch: refuted (exit 1) before, undecided (exit 3) now"},
		{"schemas/report.schema.json", "verdict", "result", "missing: report.schema.json verdict"},
		{"cmd/receipt/testdata/verify.txtar", "exits 1", "exits 3", "different: verify.txtar: receipt verify a.json: 1 before, 3 now"},
		{"cmd/receipt/testdata/verify.txtar", `"source"`, `"file"`, "missing: source"},
		{"cmd/receipt/testdata/verify.txtar", "/chain/receipt_hash", "/chain", `missing: verify.txtar: hash_mismatch at "/chain/receipt_hash"`},
		{"cmd/receipt/testdata/bundle.txtar", "exits 0 receipt bundle export run.json\n", "", "missing: bundle.txtar: receipt bundle export run.json"},
		{"cmd/receipt/testdata/upstream/a.txt", "exits 9", "exits 8", ""},
	} {
		now := sample()
		if !strings.Contains(now[c.file], c.old) {
			t.Fatalf("%s does not contain %q", c.file, c.old)
		}
		now[c.file] = strings.Replace(now[c.file], c.old, c.new, 1)

		var out strings.Builder
		differences := compare(&out, sample(), now)
		if c.want == "" && differences != 0 || c.want != "" && (differences == 0 || !strings.Contains(out.String(), c.want+"\n")) {
			t.Errorf("%s: %q for %q: %d differences\n%s", c.file, c.new, c.old, differences, out.String())
		}
	}
}
