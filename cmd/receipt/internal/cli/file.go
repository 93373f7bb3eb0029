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

// A File is written beside its place and gets its name when it is whole and on the
// disk, so that nobody ever finds a part of it. Until then it has no name, where the
// system has such files, or one that begins with .receipt-. It is the one way in which
// a file comes to be here.
type File struct {
	out      *bufio.Writer
	temp     *os.File
	name     string // of the temporary file, "" if it has none
	path     string
	mode     fs.FileMode
	replaces bool // another file of that name
	ready    bool // whole and on the disk
	named    bool
}

// NewFile begins a file. An existing one is kept unless force is set.
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

	temp, err := os.CreateTemp(folder, temporary+"*") // its owner's alone, so far
	if errors.Is(err, fs.ErrNotExist) {
		if written, _ := filepath.Split(path); written != "" { // a secret in a URL is known by its two slashes
			folder = strings.TrimRightFunc(written, func(r rune) bool { return r == '/' || r == filepath.Separator })
		}
		return nil, Usage("mkdir -p "+ShellFile(folder), "%q: the folder %q does not exist", path, folder)
	}
	if err != nil {
		return nil, Usage("", "%q: %w", path, Reason(err))
	}
	f.out, f.temp, f.name = bufio.NewWriterSize(temp, 64<<10), temp, temp.Name()
	return f, nil
}

// temporary begins the names of files that are not committed.
const temporary = ".receipt-"

// PrepareFile is NewFile with all that the file is to hold, on the disk.
func PrepareFile(path string, data []byte, mode fs.FileMode, force bool) (*File, error) {
	f, err := NewFile(path, mode, force)
	if err != nil {
		return nil, err
	}
	return f, f.fill(data)
}

// ReplaceFile writes a whole file: path holds the old content or the new one, never a
// part.
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

// Write adds to the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.out.Write(p)
	return n, f.fault(err)
}

// Ready brings all of the file onto the disk, so that only the name is left to give. A
// file without a name stays open until it has one.
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

// Commit gives the file its name, and has the folder written before anything else
// gets one.
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

// rename gives the file its name, whatever had that.
func (f *File) rename() error {
	if f.name == "" {
		err := nameFile(f.temp, f.path)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}

		// A link replaces nothing, so the file needs another name to be renamed from.
		name := filepath.Join(filepath.Dir(f.path), temporary+rand.Text())
		if err := nameFile(f.temp, name); err != nil {
			return err
		}
		f.name = name
	}
	return os.Rename(f.name, f.path)
}

// settle ends what was done for a file that has its name.
func (f *File) settle() {
	f.named = true
	f.temp.Close()
	SyncFolder(f.path)
}

// CommitNew is Commit for a name that nothing may have, even something that appears
// meanwhile: a link fails where a rename would not. The error is then fs.ErrExist.
func (f *File) CommitNew() error {
	if err := f.Ready(); err != nil {
		return err
	}

	err := f.link()
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
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

// link gives the file a name that nothing may have.
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

// AppendFile adds text to the end of a file in one write, and brings it onto the disk. It
// creates the file if there is none.
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

// SyncFolder brings the name of a file onto the disk. Where folders cannot be synced, their order
// is the system's.
func SyncFolder(path string) {
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		folder.Sync()
		folder.Close()
	}
}

// CommitAll commits files in order. If one fails, it withdraws those before it.
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

// Discard removes what got no name.
func (f *File) Discard() {
	if !f.named {
		f.temp.Close()
		if f.name != "" {
			os.Remove(f.name)
		}
	}
}

// Withdraw removes a file that has its name, unless it replaced another.
func (f *File) Withdraw() {
	if f.named && !f.replaces {
		os.Remove(f.path)
	}
}

// fault names the file by the name that it was to have.
func (f *File) fault(err error) error {
	if err == nil {
		return nil
	}
	var told *Failure
	if errors.As(err, &told) {
		return err
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) { // which names the temporary file
		err = link.Err
	}
	return Usage("", "%q: %w", f.path, Reason(err))
}
