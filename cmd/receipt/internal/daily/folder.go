package daily

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
)

// A place is a file that may be a log.
type place struct {
	path   string
	named  bool     // named by the caller and not found in a directory
	within *os.Root // the directory in which it was found; nil if the caller named it
	name   string   // relative to that directory
}

// open opens the file. If the file was found in a directory, open does not follow a link that leads
// out of the directory, and does not block if a pipe has replaced the file.
func (p *place) open() (f *os.File, err error) {
	if p.within != nil {
		f, err = p.within.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	} else {
		f, err = os.Open(p.path)
	}
	if err != nil {
		return nil, cli.Reason(err)
	}

	// The file may have been replaced since it was found.
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		f.Close()
		return nil, cli.Reason(err)
	}

	return f, nil
}

var errIrregular = errors.New("not a regular file")

// base returns the last part of the name, without the suffix of a compressed file.
func (p *place) base() string {
	name := filepath.Base(p.path)
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// A finder finds files that may be logs, and reports the kinds of all other files.
type finder struct {
	ctx    context.Context
	result *result
	roots  []*os.Root
	places []*place
}

// find finds the possible logs at paths. Directories are searched in name order.
func (f *finder) find(paths []string) {
	seen := map[string]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			f.result.file(unreadable, path, cli.Reason(err))
		case info.IsDir():
			f.walk(path)
		case !info.Mode().IsRegular():
			f.result.file(unreadable, path, errIrregular)
		default:
			f.places = append(f.places, &place{path: path, named: true})
		}
	}
	f.places = slices.DeleteFunc(f.places, func(p *place) bool { // the file was named twice, or is in a directory that was named
		have := seen[filepath.Clean(p.path)]
		seen[filepath.Clean(p.path)] = true
		return have
	})
}

// walk finds the logs in a directory. It does not follow symbolic links.
func (f *finder) walk(folder string) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		f.result.file(unreadable, folder, cli.Reason(err))
		return
	}

	// The root stays open, because files are later opened relative to it.
	f.roots = append(f.roots, root)

	_ = filepath.WalkDir(input.WithSlash(folder), func(path string, d fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		switch {
		case f.ctx.Err() != nil:
			return fs.SkipAll
		case err != nil:
			f.result.file(unreadable, path, cli.Reason(err))
		case d.IsDir():
		case !d.Type().IsRegular():
			f.result.file(skipped, path, errors.New(input.Irregular(d.Type())))
		case !isLog(path):
			f.result.file(skipped, path, errNoLog)
		default:
			name, err := filepath.Rel(folder, path)
			if err != nil {
				f.result.file(unreadable, path, err)
				break
			}
			f.places = append(f.places, &place{path: path, within: root, name: name})
		}
		return nil
	})

	// Directories are read in name order, and the complete list of paths is sorted.
	slices.SortStableFunc(f.places, func(a, b *place) int { return cmp.Compare(a.path, b.path) })
}

// keepsOff returns an error if the output would replace a log.
func (f *finder) keepsOff(output string) error {
	info, err := os.Stat(output)
	if err != nil || output == cli.StdinName {
		return nil
	}

	// Several paths may refer to the same file.
	for _, p := range f.places {
		if other, err := os.Stat(p.path); err == nil && os.SameFile(info, other) {
			return cli.Usage("choose another file; receipts are created from this log", "--output names the input, %q", p.path)
		}
	}

	return nil
}

func (f *finder) close() {
	for _, root := range f.roots {
		root.Close()
	}
}

var errNoLog = errors.New("not the name of a log")

// isLog reports whether a file has the name of a log.
func isLog(path string) bool { return input.HasExtension(path, ".jsonl", ".ndjson", ".json") }
