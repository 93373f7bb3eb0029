package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestDiffLongName verifies that a long member name is not repeated for each value below it.
func TestDiffLongName(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("é", 1<<19)
	for file, value := range map[string]string{"a": "1,", "b": "2,"} {
		text := `{"` + name + `":[` + strings.Repeat(value, 2000) + `0]}`
		writeFile(t, filepath.Join(dir, file), text)
	}
	code, out, errs := command(nil, "diff", filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	if code != cli.ExitRefuted || errs != "" || strings.Count(out, "\n") != 2000 || len(out) > 2000*300 || !strings.Contains(out, "é…  1 → 2\n") {
		t.Errorf("exit %d, %d bytes, %s", code, len(out), errs)
	}
}
