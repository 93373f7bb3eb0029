package server

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// watchedFiles reloads files that change while they are in use. If a file cannot be loaded, its
// previous content remains in use, because an error in a file must not remove the keys in it.
type watchedFiles struct {
	report func(name string, err error) // called after each reload

	mu      sync.Mutex
	watched []*watched
}

// A watched group consists of files that are loaded together.
type watched struct {
	name  string
	paths []string
	seen  []fs.FileInfo // nil for a file that could not be examined
	load  func() error  // must not change anything if it fails
}

// watchInterval is the interval between checks for changes.
const watchInterval = time.Second

// add loads files now, and again each time one of them changes. If the first load fails, add
// returns its error and does not watch the files.
func (f *watchedFiles) add(name string, load func() error, paths ...string) error {
	one := &watched{name: name, paths: paths, seen: look(paths), load: load}
	if err := load(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watched = append(f.watched, one)
	return nil
}

// look returns metadata that differs after a file has been written or replaced. Call look before
// reading the file, so that the next check detects a later write.
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

func unchanged(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// check reloads files that changed. If force is set, it reloads all files.
func (f *watchedFiles) check(force bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.watched {
		now := look(one.paths)
		if force || !slices.EqualFunc(one.seen, now, unchanged) {
			one.seen = now
			f.report(one.name, one.load())
		}
	}
}

// run checks for changes at the given interval, and reloads everything after each signal, until ctx
// is done.
func (f *watchedFiles) run(ctx context.Context, interval time.Duration, signals <-chan os.Signal) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			f.check(false)
		case <-signals:
			f.check(true)
		case <-ctx.Done():
			return
		}
	}
}
