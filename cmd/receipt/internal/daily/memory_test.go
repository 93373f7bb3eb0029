package daily

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// TestMemory verifies that a log is remembered as long as its size, time, and end are the
// same, with the outline that a survey of it gives.
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

	m := memoryOf(&Options{Ledger: filepath.Join(dir, "l.db")})
	v := &surveyor{opener: &opener{ctx: context.Background()}, options: &Options{}, result: newResult(), memory: m}
	p := &place{path: path}
	survey := func() (*sighted, *logFile) {
		t.Helper()
		s, what, err := v.look(p)
		if s == nil || err != nil {
			t.Fatal(what, err)
		}
		kept := s.kept
		l, err := v.outline(s)
		if err != nil {
			t.Fatal(err)
		}
		s.kept = kept
		return s, l
	}
	s, first := survey()
	if s.kept != nil || first.memory == nil {
		t.Fatalf("remembered before it was seen: %+v", s)
	}
	for _, t := range source.Tasks([]*source.Outline{first.outline}, true) {
		first.memory.note(&t.Parts[0], first.outline.Digest)
	}
	m.keep(first.memory)

	// Only the end of the log is read.
	put(strings.Replace(text, "go", "no", 1))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	s, again := survey()
	if s.kept == nil || !reflect.DeepEqual(first.outline, again.outline) {
		t.Errorf("not remembered: %+v\n%+v", first.outline, again.outline)
	}
	for _, task := range source.Tasks([]*source.Outline{again.outline}, true) {
		if d, known := again.memory.sum(&task.Parts[0]); !known || d != first.outline.Digest {
			t.Errorf("the lines of %s are not remembered", task.ID)
		}
	}

	for name, change := range map[string]func(){
		"another end":  func() { put(text[:len(text)-2] + "x\n"); os.Chtimes(path, info.ModTime(), info.ModTime()) },
		"another time": func() { put(text); os.Chtimes(path, info.ModTime().Add(1e9), info.ModTime().Add(1e9)) },
		"more":         func() { put(text + answered); os.Chtimes(path, info.ModTime(), info.ModTime()) },
	} {
		change()
		if r, _ := m.recall(p); r != nil {
			t.Errorf("%s: remembered", name)
		}
	}
	put(text)
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if r, _ := m.recall(p); r == nil {
		t.Fatal("forgotten")
	}

	// A damaged file is treated as missing.
	abs, _ := filepath.Abs(path)
	kept, err := os.ReadFile(m.file(abs, ".log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{nil, kept[:len(kept)/2], append(bytes.Clone(kept[:40]), kept[41:]...)} {
		if err := os.WriteFile(m.file(abs, ".log"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if r, _ := m.recall(p); r != nil {
			t.Error("damaged input is remembered")
		}
	}
}
