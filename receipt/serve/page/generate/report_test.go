package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestReportIsFresh verifies that the committed files match the output that is generated from the
// sources.
func TestReportIsFresh(t *testing.T) {
	t.Chdir("..")
	out := t.TempDir()
	if err := writeReport(out); err != nil {
		t.Fatal(err)
	}
	fresh(t, out, "report")
}

// TestSiteIsFresh verifies that the committed files for the view of "receipt browse" match the
// output that is generated from the sources.
func TestSiteIsFresh(t *testing.T) {
	t.Chdir("../../../../cmd/receipt/internal/browse")
	out := t.TempDir()
	if err := writeSite(".", out); err != nil {
		t.Fatal(err)
	}
	fresh(t, out, "site")
}

// fresh compares the files in out with the committed files.
func fresh(t *testing.T, out, name string) {
	t.Helper()
	for _, name := range []string{name + ".min.js", name + ".min.css"} {
		want, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("dist", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(want) < 10_000 || !bytes.Equal(got, want) {
			t.Errorf("dist/%s is not what the sources give; run go generate ./...", name)
		}
	}
}
