package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestUnnamed verifies that a file has no name until it is committed, so that nothing remains if
// the process is killed. Commit must give the file its name, content, and mode.
func TestUnnamed(t *testing.T) {
	dir := t.TempDir()
	if f := openUnnamed(dir); f == nil {
		t.Skip("this file system has no files without names")
	} else {
		f.Close()
	}
	path := filepath.Join(dir, "out")
	names := func() (names []string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			names = append(names, e.Name())
		}
		return names
	}
	for i, step := range []struct {
		commit func(*File) error
		before int
	}{{(*File).Commit, 0}, {(*File).Commit, 1}} {
		text := []byte{'a' + byte(i)}
		f, err := PrepareFile(path, text, 0o640, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(); len(got) != step.before {
			t.Fatalf("before the file is committed, there are %q", got)
		}
		if err := step.commit(f); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || string(got) != string(text) || info.Mode() != 0o640 || len(names()) != 1 {
			t.Errorf("%q %v %v, there are %q", got, err, info.Mode(), names())
		}
	}

	f, err := PrepareFile(path, nil, 0o640, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CommitNew(); !os.IsExist(err) {
		t.Errorf("a name that is in use: %v", err)
	}
	f.Discard()
	f, err = PrepareFile(filepath.Join(dir, "new"), nil, 0o640, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CommitNew(); err != nil {
		t.Error(err)
	}
	f.Discard()
	if got := names(); len(got) != 2 {
		t.Errorf("there are %q", got)
	}
}
