package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt/serve"
)

// TestWatch: a file that changes is loaded, a bad one is not, and metrics and logs
// say so.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	w := serve.NewWatch(slog.New(slog.NewTextHandler(&log, nil)))
	used, loads := "", 0
	load := func() error {
		text, err := os.ReadFile(path)
		loads++
		if err != nil {
			return err
		}
		if strings.HasPrefix(string(text), "bad") {
			return errors.New("it is bad")
		}
		used = string(text)
		return nil
	}
	if err := w.Add("keys", load, path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a missing file: %v", err)
	}
	w.Check(true)
	put("one")
	if err := w.Add("keys", load, path); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		do    func()
		force bool
		used  string
		loads int
		state string
	}{
		{func() {}, false, "one", 0, "loaded 0, kept 0, failed 0"},
		{func() {}, true, "one", 1, "loaded 1, kept 0, failed 0"},
		{func() { put("two") }, false, "two", 1, "loaded 2, kept 0, failed 0"},
		{func() { put("bad") }, false, "two", 1, "loaded 2, kept 1, failed 1"},
		{func() {}, false, "two", 0, "loaded 2, kept 1, failed 1"}, // told once
		{func() { os.Remove(path) }, false, "two", 1, "loaded 2, kept 2, failed 1"},
		{func() {}, false, "two", 0, "loaded 2, kept 2, failed 1"},
		{func() { put("three") }, false, "three", 1, "loaded 3, kept 2, failed 0"},
	} {
		loads = 0
		c.do()
		w.Check(c.force)
		if used != c.used || loads != c.loads || watchState(t, w) != c.state {
			t.Errorf("in use %q, %d loads, %s; expected %q, %d, %s", used, loads, watchState(t, w), c.used, c.loads, c.state)
		}
	}
	if text := log.String(); strings.Count(text, "level=ERROR") != 2 || strings.Count(text, "level=INFO") != 3 || !strings.Contains(text, "it is bad") {
		t.Errorf("logged:\n%s", text)
	}
}

func watchState(t *testing.T, w *serve.Watch) string {
	t.Helper()
	families, err := w.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return fmt.Sprintf("loaded %v, kept %v, failed %v", values["receipt_reloads_total keys loaded"],
		values["receipt_reloads_total keys kept"], values["receipt_reload_failed keys"])
}

// TestWatchRun: a signal loads everything, and the watch ends with its context.
func TestWatchRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := serve.NewWatch(slog.New(slog.DiscardHandler))
	loaded := make(chan bool, 9)
	if err := w.Add("f", func() error { loaded <- true; return nil }, path); err != nil {
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
