package input

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestArtifact verifies that a directory with an artifact manifest is one input, which contains the
// text of the artifact's files, and that a directory with any other manifest is not.
func TestArtifact(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/manifest.json", `{"ael_format":1,"recorders":[],"runs":[]}`)
	write("a/recorders/r1.jsonl", "x.y\n")
	write("b/manifest.json", `{"name":"b"}`)

	s := &Selection{}
	s.addFolder(dir, 0)
	if len(s.Sources) != 2 || s.Sources[0].Name != filepath.Join(dir, "a") {
		t.Fatalf("%+v", s.Sources)
	}
	in, err := s.Sources[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	const want = `{"ael_directory":{"manifest.json":"{\"ael_format\":1,\"recorders\":[],\"runs\":[]}","recorders/r1.jsonl":"x.y\n"}}`
	if text, err := io.ReadAll(in); err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
}
