package input

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

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A Selection contains the inputs on the command line, in order.
type Selection struct {
	Sources []stream.Source
	Skipped []stream.Notice // files in directories that are not inputs
	Missing []Missing       // paths that cannot be read; they are reported and counted, but do not end the run
	Stdin   bool
	Entries int64 // for a ledger, the number of entries; -1 if it is unknown

	spooled  int64 // size of stdin after it has been copied
	progress *cli.Progress
}

// A Missing describes a path that provides no input, and the reason.
type Missing struct {
	path  string
	cause error // without the path
	error
}

func (m Missing) Unwrap() error { return m.error }

// Notice returns the error without the path, for output that already contains the path.
func (m Missing) Notice() stream.Notice {
	return stream.Notice{Source: m.path, Detail: m.cause.Error()}
}

// unread adds a path that cannot be read.
func (s *Selection) unread(path string, err error) {
	s.Missing = append(s.Missing, Missing{path, cli.Reason(err), ReadError(path, err)})
}

// without adds a path that can be read but contains no input.
func (s *Selection) without(path string, err error) {
	s.Missing = append(s.Missing, Missing{path, err, err})
}

// SelectSources selects the inputs at paths. A path is a file, an item of a file (PATH:N), a
// directory, a pattern, "-", or a receipt_id in the default ledger.
func SelectSources(e *cli.Env, paths []string, kind stream.Kind) (*Selection, error) {
	s := &Selection{}
	for _, path := range paths {
		file, index, _ := Address(path)
		if path == cli.StdinName || file == cli.StdinName {
			if s.Stdin {
				return nil, cli.Usage("", "stdin is specified twice, but can be read only once")
			}
			s.Stdin = true
			s.Sources = append(s.Sources, stream.Source{Name: "stdin", Kind: kind, Open: e.Stdin, Index: index})
			continue
		}
		if data, err := stored(e, path); err != nil {
			return nil, err
		} else if data != nil {
			s.Sources = append(s.Sources, *bytesSource(path, data))
			continue
		}
		s.add(path, kind)
	}

	return s, nil
}

func (s *Selection) add(path string, kind stream.Kind) {
	if file, index, ok := Address(path); ok {
		one := fileSource(file, kind, false)
		one.Index = index
		s.Sources = append(s.Sources, one)
		return
	}

	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, "*?[") && remote(path) == "":
		s.addPattern(path, kind)
	case err != nil:
		s.unread(path, err)
	case info.IsDir():
		s.addFolder(path, kind)
	default:
		s.Sources = append(s.Sources, fileSource(path, kind, false))
	}
}

func (s *Selection) addPattern(pattern string, kind stream.Kind) {
	matches, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		s.unread(pattern, err)
	case len(matches) == 0:
		s.without(pattern, cli.Usage("check the path", "no file matches %q", pattern))
	}

	slices.Sort(matches)
	for _, path := range matches {
		s.add(path, kind)
	}
}

// addFolder walks a directory in lexical order. It does not follow symbolic links, because they can
// lead anywhere or form a cycle.
func (s *Selection) addFolder(root string, kind stream.Kind) {
	before := len(s.Sources)
	failed := len(s.Missing)
	_ = filepath.WalkDir(WithSlash(root), func(path string, d fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		switch {
		case err != nil:
			s.unread(path, err)
		case d.IsDir() && isArtifact(path):
			s.Sources = append(s.Sources, artifactSource(path))
			return fs.SkipDir
		case d.IsDir():
		case !d.Type().IsRegular():
			s.Skipped = append(s.Skipped, stream.Notice{Source: path, Detail: Irregular(d.Type())})
		case !stream.IsInput(path):
			s.Skipped = append(s.Skipped, stream.Notice{Source: path, Detail: unknownExtension(path)})
		default:
			s.Sources = append(s.Sources, fileSource(path, kind, true))
		}
		return nil
	})

	// A directory without any receipt is an error, unless another error in the directory was
	// already reported.
	if len(s.Sources) == before && len(s.Missing) == failed {
		s.without(root, cli.Usage("receipts in directories are files *.json, *.jsonl, *.ndjson, *.cbor, *.cborseq, or *.cose, optionally followed by .gz or .zst", "the directory %q contains no receipt", root))
	}
}

// unknownExtension states why a file in a directory is not an input.
func unknownExtension(path string) string {
	if ext := filepath.Ext(path); ext != "" {
		return "not read: extension " + ext
	}
	return "not read: no extension"
}

// Irregular describes a directory entry that is neither a file nor a directory.
func Irregular(t fs.FileMode) string {
	switch {
	case t&fs.ModeSymlink != 0:
		return "a symbolic link, not followed"
	case t&fs.ModeNamedPipe != 0:
		return "a named pipe"
	}
	return "not a regular file"
}

// WithSlash appends a slash to the path of a symbolic link to a directory, so that a walk enters
// the directory.
func WithSlash(path string) string {
	return strings.TrimSuffix(path, string(filepath.Separator)) + string(filepath.Separator)
}

// HasExtension reports whether a file has one of the extensions, possibly followed by a compression
// extension.
func HasExtension(path string, extensions ...string) bool {
	name := strings.ToLower(filepath.Base(path))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return slices.Contains(extensions, filepath.Ext(name))
}

func fileSource(path string, kind stream.Kind, found bool) stream.Source {
	return stream.Source{Name: path, Kind: kind, Found: found, Open: func() (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, cli.Reason(err)
		}
		return &plainErrors{f}, nil
	}}
}

// plainErrors removes the path from read errors, because the output already contains it.
type plainErrors struct{ *os.File }

func (p *plainErrors) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if err != nil && err != io.EOF {
		err = cli.Reason(err)
	}
	return n, err
}

// Has reports whether path is one of the inputs, even under another name.
func (s *Selection) Has(path string) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(s.Sources, func(src stream.Source) bool {
		other, err := os.Stat(src.Name)
		return err == nil && os.SameFile(info, other)
	})
}

// CheckTempDir returns an error at the start of a run if --temp-dir does not exist, because the
// directory may be needed only hours later.
func CheckTempDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case dir == "":
		return nil
	case err != nil:
		return cli.Usage("use --temp-dir to name another directory", "--temp-dir %q: %w", dir, cli.Reason(err))
	case !info.IsDir():
		return cli.Usage("use --temp-dir to name another directory", "--temp-dir %q is a file, expected a directory", dir)
	}
	return nil
}

// SpoolStdin copies stdin to a temporary file if it must be read twice. It calls show to display
// the progress of the copy.
func (s *Selection) SpoolStdin(ctx context.Context, dir string, twice bool, show func(passes ...string) *cli.Progress) (remove func(), err error) {
	remove = func() {}
	if !s.Stdin || len(s.Sources) < 2 && !twice {
		return remove, nil
	}

	i := slices.IndexFunc(s.Sources, func(src stream.Source) bool { return src.Name == "stdin" })
	in, _ := s.Sources[i].Open()
	f, err := os.CreateTemp(dir, "receipt-stdin-*")
	if err != nil {
		return remove, cli.Usage("use --temp-dir to name another directory", "%w", err)
	}

	// No other process needs the name of the file. If the file has no name, it disappears when the
	// process ends. If the system cannot remove a file that is in use, the returned function
	// removes it later.
	_ = os.Remove(f.Name())
	remove = func() { f.Close(); os.Remove(f.Name()) }

	// An interruption ends the copy even if stdin provides no data.
	progress := show("copying stdin")
	defer progress.End()
	until := UntilDone(ctx, progress.Reader(in))
	defer until.Close()
	size, err := io.Copy(f, until)
	if err != nil {
		remove()
		var told *cli.Failure
		if errors.As(err, &told) {
			return func() {}, told
		}
		return func() {}, cli.Usage("", "stdin: %w", cli.Reason(err))
	}

	s.spooled = size
	s.Sources[i].Open = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(f, 0, size)), nil }
	return remove, nil
}

// ReadList reads a list of paths that are separated or terminated by NUL, such as the output of
// "find -print0".
func ReadList(e *cli.Env, path string) ([]string, error) {
	data, err := ReadBounded(e, path, maxListBytes+1)
	if err != nil {
		return nil, err
	}
	if len(data) > maxListBytes {
		return nil, cli.Usage("", "%q: more than %d bytes of paths", path, maxListBytes)
	}

	text := strings.TrimSuffix(string(data), "\x00")
	if text == "" {
		return nil, cli.Usage("", "%q names no file", path)
	}

	// A name may contain newlines. However, if the text contains newlines but no NULs, and it is
	// not itself the name of a file, the list must be malformed.
	list := strings.Split(text, "\x00")
	if _, err := os.Lstat(text); err != nil && len(list) == 1 && strings.Contains(text, "\n") {
		return nil, cli.Usage("create such a list with find -print0", "%q separates paths with line ends, expected NUL", cli.SourceName(path))
	}

	return list, nil
}

const maxListBytes = 256 << 20

// size returns the number of bytes in one pass over the inputs, or 0 if the number is unknown.
func (s *Selection) size() (total int64) {
	if s.Entries != 0 {
		return 0
	}
	for _, src := range s.Sources {
		if s.Stdin && src.Name == cli.SourceName(cli.StdinName) {
			if s.spooled == 0 {
				return 0
			}
			total += s.spooled
			continue
		}

		size, known := SizeOf(src.Name)
		if !known {
			return 0
		}
		total += size
	}
	return total
}

// Readings returns the names of the passes over the inputs. The last pass has the name last. If
// there are several inputs, or if twice is set, it is preceded by a pass with the name "reading".
func (s *Selection) Readings(last string, twice bool) []string {
	if len(s.Sources) > 1 || twice {
		return []string{"reading", last}
	}
	return []string{last}
}

// Show displays the progress of reading the inputs. Each pass reads all inputs once.
func (s *Selection) Show(p *cli.Progress) {
	if s.progress = p; p == nil {
		return
	}

	bytes, receipts := s.size(), max(s.Entries, 0)
	p.Pass(0, bytes, receipts)
	for i := range s.Sources {
		open, readings := s.Sources[i].Open, 0
		s.Sources[i].Open = func() (io.ReadCloser, error) {
			p.Pass(readings, bytes, receipts)
			readings++
			r, err := open()
			if err != nil || s.Entries != 0 {
				return r, err
			}
			return p.Reader(r), nil
		}
	}
}

// Begin shows the progress of reading the inputs on a terminal, starting with the first of
// the passes.
func (s *Selection) Begin(e *cli.Env, passes ...string) *cli.Progress {
	p := e.Progress(passes...)
	s.Show(p)
	return p
}

// Each calls do with every document in input order. It records the documents that are skipped
// because they are not receipts.
func (s *Selection) Each(ctx context.Context, long bool, do func(*stream.Document) error) error {
	for d, err := range stream.Read(ctx, s.Sources, stream.Options{Long: long}) {
		switch {
		case err != nil:
			return documentFailure(err)
		case d.Other != "":
			s.Skipped = append(s.Skipped, stream.Notice{Source: d.Source, Detail: d.Other})
		default:
			if err := do(d); err != nil {
				return err
			}
			s.progress.Receipts(1)
		}
	}
	return nil
}

// TellSkipped prints the files in directories that were skipped and the reasons for skipping them.
func (s *Selection) TellSkipped(e *cli.Env) {
	var lines []string
	for _, n := range s.Skipped {
		lines = append(lines, fmt.Sprintf("%s (%s)", cli.Bare(n.Source), n.Detail))
	}
	io.WriteString(e.Notes(), cli.Rows("skipped", lines, cli.MaxStreams, len(lines)))
}
