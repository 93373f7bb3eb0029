package server

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// watchedFiles loads files again that change while they are in use. If one does not load, the
// earlier content stays in use: a mistake in a file must not remove the keys that it had.
type watchedFiles struct {
	report func(name string, err error) // of each time something was loaded again

	mu      sync.Mutex
	watched []*watched
}

// watched are files that are loaded together.
type watched struct {
	name  string
	paths []string
	seen  []fs.FileInfo // nil for one that could not be looked at
	load  func() error  // leaves everything as it is when it fails
}

// watchInterval is how soon a change is seen.
const watchInterval = time.Second

// add loads files, and from then on each time that one of them changes. The error is
// that of the first load; the files are then not watched.
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

// look tells of each file what is different when it was written or replaced. It is
// looked at before it is read: what is written after that is seen the next time.
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

// check loads what has changed; with force everything, as far as anyone can tell.
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

// run checks at the interval, and everything at each signal, until ctx is done.
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
