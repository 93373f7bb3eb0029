package daily

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestMemory verifies that the outline of a log remains valid while the log's size, time, and end
// are unchanged, and that it equals the outline from a survey.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	text := asked + answered + strings.Repeat(" ", tailBytes) + "\n"
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(text)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}

	options := &Options{Ledger: filepath.Join(dir, "l.db"), Apart: true}
	v := &surveyor{opener: &opener{ctx: context.Background()}, options: options, result: newResult()}
	p := &place{path: path}
	survey := func() (*sighted, *work) {
		t.Helper()
		v.memory, v.works, v.logs = memoryOf(options), nil, nil
		s, what, err := v.look(p)
		if s == nil || err != nil {
			t.Fatal(what, err)
		}
		if v.group([]*sighted{s}); len(v.works) != 1 {
			t.Fatalf("%d tasks", len(v.works))
		}
		return s, v.works[0]
	}
	s, first := survey()
	if s.memory != nil || first.files[0].memory == nil {
		t.Fatalf("remembered before it was seen: %+v", s)
	}
	digest := first.files[0].outline.Digest
	first.files[0].memory.note(&first.Parts[0], digest)
	v.memory.keep(v.logs, "", nil)

	// Only the end of the log is read in this case. The outline is read only if the group has
	// changed.
	put(strings.Replace(text, "go", "no", 1))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	for _, without := range []string{"", "group"} {
		s, again := survey()
		if without != "" {
			clear(v.memory.was.Groups)
			v.works = nil
			v.group([]*sighted{s})
			again = v.works[0]
		}
		if s.memory == nil || !reflect.DeepEqual(first.Task, again.Task) {
			t.Errorf("not remembered: %+v\n%+v", first.Task, again.Task)
		}
		if d, known := again.files[0].memory.sum(&again.Parts[0]); !known || d != digest {
			t.Errorf("the lines of %s are not remembered", again.ID)
		}
	}

	for name, change := range map[string]func(){
		"another end":  func() { put(text[:len(text)-2] + "x\n"); os.Chtimes(path, info.ModTime(), info.ModTime()) },
		"another time": func() { put(text); os.Chtimes(path, info.ModTime().Add(1e9), info.ModTime().Add(1e9)) },
		"more":         func() { put(text + answered); os.Chtimes(path, info.ModTime(), info.ModTime()) },
	} {
		change()
		if recall(&v.memory, p) != nil {
			t.Errorf("%s: remembered", name)
		}
	}
	put(text)
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if recall(&v.memory, p) == nil {
		t.Fatal("forgotten")
	}

	// A damaged memory file is treated as missing.
	kept, err := os.ReadFile(v.memory.file("index", ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{nil, kept[:len(kept)/2], append(bytes.Clone(kept[:40]), kept[41:]...)} {
		if err := os.WriteFile(v.memory.file("index", ""), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if m := memoryOf(options); recall(&m, p) != nil {
			t.Error("damaged input is remembered")
		}
	}
}
