package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWatch verifies that a changed file is loaded, that an invalid file is tried once, and that
// every attempt is reported.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	used := ""
	load := func() error {
		text, err := os.ReadFile(path)
		if err == nil && strings.HasPrefix(string(text), "bad") {
			err = errors.New("it is bad")
		}
		if err == nil {
			used = string(text)
		}
		return err
	}
	var told []string
	w := &watchedFiles{report: func(name string, err error) {
		if err != nil {
			name += " kept"
		}
		told = append(told, name)
	}}
	if err := w.add("f", load, path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a missing file: %v", err)
	}
	w.check(true)
	replace(t, path, "one")
	if err := w.add("f", load, path); err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
	for _, c := range []struct {
		do    func()
		force bool
		used  string
		told  []string
	}{
		{func() {}, false, "one", nil},
		{func() {}, true, "one", []string{"f"}},
		{func() { replace(t, path, "two") }, false, "two", []string{"f"}},
		{func() { replace(t, path, "bad") }, false, "two", []string{"f kept"}},
		{func() {}, false, "two", nil},
		{func() { os.Remove(path) }, false, "two", []string{"f kept"}},
		{func() {}, false, "two", nil},
		{func() { replace(t, path, "three") }, false, "three", []string{"f"}},
	} {
		told = nil
		c.do()
		w.check(c.force)
		if used != c.used || !slices.Equal(told, c.told) {
			t.Errorf("in use %q, reported %q; expected %q, %q", used, told, c.used, c.told)
		}
	}
}

// TestWatchRun verifies that a signal reloads all files, and that run returns when its context
// ends.
func TestWatchRun(t *testing.T) {
	loaded := make(chan bool, 9)
	w := &watchedFiles{report: func(string, error) {}}
	if err := w.add("f", func() error { loaded <- true; return nil }); err != nil {
		t.Fatal(err)
	}
	<-loaded
	ctx, cancel := context.WithCancel(context.Background())
	signals, ended := make(chan os.Signal), make(chan bool)
	go func() { w.run(ctx, time.Hour, signals); close(ended) }()
	signals <- os.Interrupt
	<-loaded
	cancel()
	<-ended
}

// replace replaces a file atomically.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
