package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestForms verifies that every output format is measured with a few receipts, and that its output
// is written.
func TestForms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	b := few(t)
	lines := b.formsOf(200)
	if len(lines) != 1+len(forms()) || lines[0].ID != "forms/digests" || lines[0].Seen <= 0 {
		t.Fatalf("%d lines for %d forms, the first is %+v", len(lines), len(forms()), lines[0])
	}
	for i, l := range lines[1:] {
		if l.ID != "forms/"+forms()[i].name || runtime.GOOS != "windows" && l.Seen <= 0 {
			t.Errorf("%+v", l)
		}
	}
	for _, f := range forms() {
		if f.report == "" {
			continue
		}
		if info, err := os.Stat(filepath.Join(b.dir, "report"+f.report)); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}
