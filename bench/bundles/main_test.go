package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWorks: each can be done, with a run record and with its bundle.
func TestWorks(t *testing.T) {
	dir := t.TempDir()
	run, local := filepath.Join(dir, "run.json"), filepath.Join(dir, "bundle.json")
	if err := do("write 1", dir); err != nil {
		t.Fatal(err)
	}
	ofRun, ofBundle := works()
	for file, list := range map[string][]string{run: ofRun, local: ofBundle} {
		if info, err := os.Stat(file); err != nil || info.Size() < 1<<19 {
			t.Fatal(info, err)
		}
		for _, work := range list {
			if err := do(work, file); err != nil {
				t.Errorf("%s: %v", work, err)
			}
		}
	}
	if do("other", local) == nil {
		t.Error("something unknown was done")
	}
}
