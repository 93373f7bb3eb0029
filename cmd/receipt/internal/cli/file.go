package cli

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A File is a file that gets its name only after it is complete and synced to disk, so that an
// incomplete file is never visible. Until then, it is unnamed if the system supports unnamed files.
// Otherwise, it has a temporary name that begins with ".receipt-". This program writes all new
// files in this way.
type File struct {
	out      *bufio.Writer
	temp     *os.File
	name     string // name of the temporary file; "" if it has none
	path     string
	mode     fs.FileMode
	replaces bool // a file with this name exists
	ready    bool // complete and synced
	named    bool
}

// NewFile creates a file. An existing file is not replaced unless force is set.
func NewFile(path string, mode fs.FileMode, force bool) (*File, error) {
	replaces, err := MayWrite(path, force)
	if err != nil {
		return nil, err
	}
	return newFile(path, mode, replaces)
}

func newFile(path string, mode fs.FileMode, replaces bool) (*File, error) {
	folder := filepath.Dir(path)
	f := &File{path: path, mode: mode, replaces: replaces}
	if f.temp = openUnnamed(folder); f.temp != nil {
		f.out = bufio.NewWriterSize(f.temp, 64<<10)
		return f, nil
	}

	temp, err := os.CreateTemp(folder, temporary+"*") // for now, only the owner can read it
	if errors.Is(err, fs.ErrNotExist) {
		if written, _ := filepath.Split(path); written != "" { // keep both slashes, so that a secret in a URL is detected
			folder = strings.TrimRightFunc(written, func(r rune) bool { return r == '/' || r == filepath.Separator })
		}
		return nil, Usage("mkdir -p "+ShellFile(folder), "%q: the directory %q does not exist", path, folder)
	}
	if err != nil {
		return nil, Usage("", "%q: %w", path, Reason(err))
	}
	f.out, f.temp, f.name = bufio.NewWriterSize(temp, 64<<10), temp, temp.Name()
	return f, nil
}

// temporary is the prefix of the names of files that are not committed.
const temporary = ".receipt-"

// PrepareFile creates a file with the given content and syncs it to disk, without committing it.
func PrepareFile(path string, data []byte, mode fs.FileMode, force bool) (*File, error) {
	f, err := NewFile(path, mode, force)
	if err != nil {
		return nil, err
	}
	return f, f.fill(data)
}

// ReplaceFile replaces a file atomically.
func ReplaceFile(path string, data []byte, mode fs.FileMode) error {
	f, err := newFile(path, mode, true)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := f.fill(data); err != nil {
		return err
	}
	return f.Commit()
}

func (f *File) fill(data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Ready()
	}
	if err != nil {
		f.Discard()
	}
	return err
}

// Write appends p to the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.out.Write(p)
	return n, f.fault(err)
}

// Ready syncs the file to disk, so that only the rename remains. If the file has no name yet, it
// stays open until Commit.
func (f *File) Ready() error {
	if f.ready {
		return nil
	}
	err := errors.Join(f.out.Flush(), f.temp.Chmod(f.mode), f.temp.Sync())
	if f.name != "" {
		err = errors.Join(err, f.temp.Close())
	}
	f.ready = err == nil
	return f.fault(err)
}

// Commit gives the file its name, and syncs the directory.
func (f *File) Commit() error {
	if err := f.Ready(); err != nil {
		return err
	}
	if err := f.rename(); err != nil {
		return f.fault(err)
	}
	f.settle()
	return nil
}

// rename gives the file its name, and replaces any file with that name.
func (f *File) rename() error {
	if f.name == "" {
		err := nameFile(f.temp, f.path)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}

		// A link cannot replace a file, so the file first gets another name, from which it can be
		// renamed.
		name := filepath.Join(filepath.Dir(f.path), temporary+rand.Text())
		if err := nameFile(f.temp, name); err != nil {
			return err
		}
		f.name = name
	}
	return os.Rename(f.name, f.path)
}

// settle closes a file that has its final name, and syncs the directory.
func (f *File) settle() {
	f.named = true
	f.temp.Close()
	SyncFolder(f.path)
}

// CommitNew is like Commit, but returns fs.ErrExist if a file with this name exists, even if it was
// created in the meantime. CommitNew uses a link, which fails in cases in which a rename would
// replace the file.
func (f *File) CommitNew() error {
	if err := f.Ready(); err != nil {
		return err
	}

	err := f.link()
	if err != nil && !errors.Is(err, fs.ErrExist) { // the file system does not support links
		if _, stat := os.Lstat(f.path); errors.Is(stat, fs.ErrNotExist) {
			return f.Commit()
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	case err != nil:
		return f.fault(err)
	}

	f.settle()
	return nil
}

// link gives the file its name, and fails if another file has this name.
func (f *File) link() error {
	if f.name == "" {
		return nameFile(f.temp, f.path)
	}
	err := os.Link(f.name, f.path)
	if err == nil {
		os.Remove(f.name)
	}
	return err
}

// AppendFile appends text to a file in one write and syncs it to disk. It creates the file if it
// does not exist.
func AppendFile(path string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	SyncFolder(path)
	return err
}

// SyncFolder syncs the directory of a file to disk. If the system cannot sync directories, the
// system itself determines the order of writes.
func SyncFolder(path string) {
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		folder.Sync()
		folder.Close()
	}
}

// CommitAll commits files in order. If a commit fails, the files that were committed before are
// withdrawn.
func CommitAll(files ...*File) error {
	for i, f := range files {
		if err := f.Commit(); err != nil {
			for _, done := range files[:i] {
				done.Withdraw()
			}
			return err
		}
	}
	return nil
}

// Discard removes the file if it was not committed.
func (f *File) Discard() {
	if !f.named {
		f.temp.Close()
		if f.name != "" {
			os.Remove(f.name)
		}
	}
}

// Withdraw removes a committed file, unless it replaced another file.
func (f *File) Withdraw() {
	if f.named && !f.replaces {
		os.Remove(f.path)
	}
}

// fault returns err with the final name of the file instead of its temporary name.
func (f *File) fault(err error) error {
	if err == nil {
		return nil
	}
	var told *Failure
	if errors.As(err, &told) {
		return err
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) { // the error contains the temporary name
		err = link.Err
	}
	return Usage("", "%q: %w", f.path, Reason(err))
}
