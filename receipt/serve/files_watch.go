package serve

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Watch loads files again when they change, such as key sets and API keys. What
// does not load is kept as it was before: a mistake in a file must not take away
// the keys that it had. Two metrics tell of it:
//
//	receipt_reloads_total{file,outcome}  loaded, or kept because it was bad
//	receipt_reload_failed{file}          1 while the file on disk is not the one in use
type Watch struct {
	log      *slog.Logger
	registry *prometheus.Registry
	reloads  *prometheus.CounterVec
	failed   *prometheus.GaugeVec

	mu      sync.Mutex
	watched []*watched
}

// watched are files that are loaded together.
type watched struct {
	name  string
	paths []string
	seen  []fs.FileInfo // nil for one that could not be looked at
	load  func() error
}

// NewWatch returns a Watch with a registry of its own, for [Options.Registry].
func NewWatch(log *slog.Logger) *Watch {
	w := &Watch{
		log: log, registry: prometheus.NewRegistry(),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "receipt_reloads_total",
			Help: "Files that changed while in use, by what became of them: loaded, or kept as they were because they were bad."}, []string{"file", "outcome"}),
		failed: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "receipt_reload_failed",
			Help: "1 while the file on disk is bad and what was loaded before is in use."}, []string{"file"}),
	}
	w.registry.MustRegister(w.reloads, w.failed)
	return w
}

// Registry returns where the metrics are.
func (w *Watch) Registry() *prometheus.Registry { return w.registry }

// Add loads files, and from then on each time one of them changes. The name is for
// logs and metrics. An error is that of the first load; the files are then not
// watched. Load must leave everything as it was when it fails, and it must not name
// secrets in its errors, which are logged.
func (w *Watch) Add(name string, load func() error, paths ...string) error {
	one := &watched{name: name, paths: paths, seen: look(paths), load: load}
	if err := load(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched = append(w.watched, one)
	w.failed.WithLabelValues(name).Set(0)
	for _, outcome := range []string{"loaded", "kept"} {
		w.reloads.WithLabelValues(name, outcome)
	}
	return nil
}

// look tells of each file what changes when it is written or replaced. It is looked
// at before the file is read: what is written after that is seen the next time.
func look(paths []string) (list []fs.FileInfo) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			info = nil
		}
		list = append(list, info)
	}
	return list
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Check loads what has changed; with force everything, as far as anyone can tell.
func (w *Watch) Check(force bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.watched {
		now := look(one.paths)
		if !force && slices.EqualFunc(one.seen, now, same) {
			continue
		}
		one.seen = now
		w.reload(one)
	}
}

func (w *Watch) reload(one *watched) {
	if err := one.load(); err != nil {
		w.log.Error("not reloaded; what was loaded before stays in use", "file", one.name, "error", err)
		w.reloads.WithLabelValues(one.name, "kept").Inc()
		w.failed.WithLabelValues(one.name).Set(1)
		return
	}
	w.log.Info("reloaded", "file", one.name)
	w.reloads.WithLabelValues(one.name, "loaded").Inc()
	w.failed.WithLabelValues(one.name).Set(0)
}

// Run checks at an interval, and everything at each signal, until ctx is done.
func (w *Watch) Run(ctx context.Context, interval time.Duration, signals <-chan os.Signal) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.Check(false)
		case <-signals:
			w.Check(true)
		case <-ctx.Done():
			return
		}
	}
}
