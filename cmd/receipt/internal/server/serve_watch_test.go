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

// TestWatch: a file that changes is loaded, one that is bad is tried once, and every
// attempt is told.
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
	w := &FileWatch{Report: func(name string, err error) {
		if err != nil {
			name += " kept"
		}
		told = append(told, name)
	}}
	if err := w.Add("f", load, path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a missing file: %v", err)
	}
	w.Check(true)
	replace(t, path, "one")
	if err := w.Add("f", load, path); err != nil || len(told) > 0 {
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
		w.Check(c.force)
		if used != c.used || !slices.Equal(told, c.told) {
			t.Errorf("in use %q, told %q; expected %q, %q", used, told, c.used, c.told)
		}
	}
}

// TestWatchRun: a signal loads everything, and the watch ends with its context.
func TestWatchRun(t *testing.T) {
	loaded := make(chan bool, 9)
	w := &FileWatch{Report: func(string, error) {}}
	if err := w.Add("f", func() error { loaded <- true; return nil }); err != nil {
		t.Fatal(err)
	}
	<-loaded
	ctx, cancel := context.WithCancel(context.Background())
	signals, ended := make(chan os.Signal), make(chan bool)
	go func() { w.Run(ctx, time.Hour, signals); close(ended) }()
	signals <- os.Interrupt
	<-loaded
	cancel()
	<-ended
}

func TestCheckAddr(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:8080": "loopback", "127.9.9.9:1": "loopback", "[::1]:0": "loopback", "localhost:80": "loopback", "[::ffff:127.0.0.1]:80": "loopback",
		"0.0.0.0:80": "open", ":80": "open", "[::]:80": "open", "10.0.0.1:65535": "open", "[fe80::1%eth0]:80": "open",
		"127.0.0.1": "", "127.0.0.1:": "", "127.0.0.1:65536": "", "127.0.0.1:-1": "", "127.0.0.1:http": "", "host.example:80": "",
		"LOCALHOST.example:80": "", "::1:80": "", "127.1:80": "", "2130706433:80": "", "": "", "http://127.0.0.1:80": "",
	} {
		loopback, err := CheckAddr(addr)
		got := map[bool]string{true: "loopback", false: "open"}[loopback]
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, expected %q: %v", addr, got, want, err)
		}
	}
}

func TestParseAnchors(t *testing.T) {
	list, err := ParseAnchors([]byte(`{"b": "keys/b.json", "a": "/a.json"}`))
	if err != nil || !slices.Equal(list, []Anchor{{"b", "keys/b.json"}, {"a", "/a.json"}}) && !slices.Equal(list, []Anchor{{"a", "/a.json"}, {"b", "keys/b.json"}}) {
		t.Errorf("%v, %v", list, err)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"a":1}`, `{"a":""}`, `{"":"a"}`, `{"a":"-"}`, `{"a":"b","a":"c"}`, `{"a":"b"}x`, `{"` + strings.Repeat("a", 201) + `":"b"}`} {
		if list, err := ParseAnchors([]byte(bad)); err == nil || list != nil {
			t.Errorf("%.40s: %v", bad, list)
		}
	}
}

// replace puts a file in the place of another at once.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
