package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A selection is the inputs that the command line names, in their order.
type selection struct {
	sources []stream.Source
	skipped []stream.Notice // files in folders that are no inputs
	missing []missing       // what cannot be read: told, counted, and no reason to stop
	stdin   bool
}

// missing is a path that leads to no input.
type missing struct {
	path string
	error
}

func (m missing) Unwrap() error { return m.error }

// notice is the error without the path, for those who print that themselves.
func (m missing) notice() stream.Notice {
	return stream.Notice{Source: m.path, Detail: strings.TrimPrefix(m.Error(), fmt.Sprintf("%q: ", m.path))}
}

// extensions are what a folder's inputs are called, before .gz or .zst.
func extensions() []string { return []string{".json", ".jsonl", ".ndjson", ".cbor", ".cborseq"} }

// selectSources finds the inputs behind paths: files, folders, patterns, "-".
func selectSources(e *env, paths []string, kind stream.Kind) (*selection, error) {
	s := &selection{}
	for _, path := range paths {
		if path == stdinName {
			if s.stdin {
				return nil, usage("", "- is given twice, but stdin can be read once")
			}
			s.stdin = true
			s.sources = append(s.sources, stream.Source{Name: "stdin", Kind: kind, Open: e.stdin})
			continue
		}
		if err := s.add(path, kind); err != nil {
			s.missing = append(s.missing, missing{path, err})
		}
	}
	return s, nil
}

func (s *selection) add(path string, kind stream.Kind) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, "*?[") {
		return s.addPattern(path, kind)
	}
	if err != nil {
		return readError(path, err)
	}
	if info.IsDir() {
		return s.addFolder(path, kind)
	}
	s.sources = append(s.sources, fileSource(path, kind, false))
	return nil
}

func (s *selection) addPattern(pattern string, kind stream.Kind) error {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return usage("", "%q: %w", pattern, err)
	}
	if len(matches) == 0 {
		return usage("check the path", "no file matches %q", pattern)
	}
	slices.Sort(matches)
	for _, path := range matches {
		if err := s.add(path, kind); err != nil {
			s.missing = append(s.missing, missing{path, err})
		}
	}
	return nil
}

// addFolder walks a folder in lexical order. Symbolic links in it are not
// followed: they could lead anywhere, or in a circle.
func (s *selection) addFolder(root string, kind stream.Kind) error {
	before := len(s.sources)
	failed := len(s.missing)
	err := filepath.WalkDir(withSlash(root), func(path string, d fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		switch {
		case err != nil:
			s.missing = append(s.missing, missing{path, readError(path, err)})
		case d.IsDir():
		case !d.Type().IsRegular():
			s.skipped = append(s.skipped, stream.Notice{Source: path, Detail: irregular(d.Type())})
		case !isInput(path):
			s.skipped = append(s.skipped, stream.Notice{Source: path, Detail: "not a receipt"})
		default:
			s.sources = append(s.sources, fileSource(path, kind, true))
		}
		return nil
	})
	if err == nil && len(s.sources) == before && len(s.missing) == failed {
		err = usage("receipts in folders are files *.json, *.jsonl, *.ndjson, *.cbor or *.cborseq, also with .gz or .zst behind", "the folder %q holds no receipt", root)
	}
	return err
}

// irregular says what a directory entry is that is neither file nor folder.
func irregular(t fs.FileMode) string {
	switch {
	case t&fs.ModeSymlink != 0:
		return "a symbolic link, not followed"
	case t&fs.ModeNamedPipe != 0:
		return "a named pipe"
	}
	return "not a regular file"
}

// withSlash makes a walk enter a folder that is named by a symbolic link.
func withSlash(path string) string {
	return strings.TrimSuffix(path, string(filepath.Separator)) + string(filepath.Separator)
}

func isInput(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return slices.Contains(extensions(), filepath.Ext(name))
}

func fileSource(path string, kind stream.Kind, found bool) stream.Source {
	return stream.Source{Name: path, Kind: kind, Found: found, Open: func() (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, reason(err)
		}
		return &plainErrors{f}, nil
	}}
}

// plainErrors takes the path out of read errors: results name it already.
type plainErrors struct{ *os.File }

func (p *plainErrors) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if err != nil && err != io.EOF {
		err = reason(err)
	}
	return n, err
}

// has reports whether path is one of the inputs, by whatever name.
func (s *selection) has(path string) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(s.sources, func(src stream.Source) bool {
		other, err := os.Stat(src.Name)
		return err == nil && os.SameFile(info, other)
	})
}

// spoolStdin copies stdin to a temporary file when it has to be read twice.
func (s *selection) spoolStdin(ctx context.Context, dir string, twice bool) (remove func(), err error) {
	remove = func() {}
	if !s.stdin || len(s.sources) < 2 && !twice {
		return remove, nil
	}
	i := slices.IndexFunc(s.sources, func(src stream.Source) bool { return src.Name == "stdin" })
	in, _ := s.sources[i].Open()
	f, err := os.CreateTemp(dir, "receipt-stdin-*")
	if err != nil {
		return remove, usage("name another folder by --temp-dir", "%w", err)
	}
	// Nobody else needs the name; without it nothing is left behind, whatever
	// happens. Where a file in use cannot be unlinked, remove does it.
	_ = os.Remove(f.Name())
	remove = func() { f.Close(); os.Remove(f.Name()) }
	until := untilDone(ctx, in)
	defer until.Close()
	size, err := io.Copy(f, until)
	if err != nil {
		remove()
		var told *failure
		if errors.As(err, &told) {
			return func() {}, told
		}
		return func() {}, usage("", "stdin: %w", reason(err))
	}
	s.sources[i].Open = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(f, 0, size)), nil }
	return remove, nil
}

// readList reads a list of paths that NUL ends or separates, as find -print0
// writes it.
func readList(e *env, path string) ([]string, error) {
	data, err := readBounded(e, path, maxListBytes+1)
	if err != nil {
		return nil, err
	}
	if len(data) > maxListBytes {
		return nil, usage("", "%q: more than %d bytes of paths", path, maxListBytes)
	}
	text := strings.TrimSuffix(string(data), "\x00")
	if text == "" {
		return nil, usage("", "%q names no file", path)
	}
	list := strings.Split(text, "\x00")
	if _, err := os.Lstat(text); err != nil && len(list) == 1 && strings.Contains(text, "\n") {
		return nil, usage("find -print0 writes such a list", "%q separates paths by line ends, expected NUL", sourceName(path))
	}
	return list, nil
}

const maxListBytes = 256 << 20
