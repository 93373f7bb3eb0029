package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestReportIsFresh verifies that the committed files match the output of the sources.
func TestReportIsFresh(t *testing.T) {
	t.Chdir("..")
	out := t.TempDir()
	if err := writeReport(out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.min.js", "report.min.css"} {
		want, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("dist", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(want) < 10_000 || !bytes.Equal(got, want) {
			t.Errorf("dist/%s is not what the sources give; run go generate ./receipt/serve/page", name)
		}
	}
}
