// Package file protects the file of a ledger: it checks that the file remains in place, records the
// end of the ledger in FILE-head, and orders the processes that write to the file.
package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// A ReplacedError indicates that the path of an open ledger no longer refers to the file that was
// opened, or that the file was truncated. SQLite itself would continue to write to the unlinked
// file, or at the location of the missing part.
type ReplacedError struct {
	Path string // path of the ledger, or of its -wal or -shm file
	What string // what happened
}

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("ledger: %q %s while it was open; close it, see what is there, and open that", e.Path, e.What)
}

// A Watch watches the files of an open ledger. It examines them only by path, because opening and
// closing the ledger or its -shm file would release SQLite's locks.
type Watch struct {
	Path string // resolved path, from which SQLite derives the paths of the other files

	given string // by the caller

	mu     sync.Mutex
	main   fs.FileInfo
	moved  bool                   // the file has been written to since Rewritten was last called
	beside map[string]fs.FileInfo // -wal and -shm files, once they are in use
	log    []byte                 // header of the -wal file when it was last seen
	logEnd int64                  // and its size

	frozen bool        // the files must not change
	still  fs.FileInfo // the -wal file of frozen files, or nil
}

// Open starts watching the files of a ledger.
func Open(path string) (*Watch, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	f := &Watch{given: path, main: info, beside: map[string]fs.FileInfo{}}
	if f.Path, err = filepath.EvalSymlinks(path); err == nil {
		f.Path, err = filepath.Abs(f.Path)
	}
	return f, err
}

// Freeze records that the files must not change while they are read, and reports whether the entire
// ledger is in the main file.
func (f *Watch) Freeze() (alone bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = true
	f.still, err = f.logInfo()
	return f.still == nil || f.still.Size() == 0, err
}

// logInfo describes the -wal file, or returns nil if there is none.
func (f *Watch) logInfo() (fs.FileInfo, error) {
	info, err := os.Stat(f.Path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// Same checks that the path still refers to the file that was opened. A ledger never becomes
// smaller, and frozen files never change.
func (f *Watch) Same() error {
	f.mu.Lock()
	defer f.mu.Unlock()

	info, err := f.look(f.given, f.main)
	if err != nil {
		return err
	}
	if info.Size() < f.main.Size() {
		return &ReplacedError{f.given, "was cut or overwritten"}
	}

	if f.frozen {
		return f.unchanged(info)
	}
	f.moved = f.moved || written(info, f.main)
	f.main = info

	// Other processes open these files by name, so each name must refer to the file that is in use.
	for suffix, was := range f.beside {
		if _, err := f.look(f.Path+suffix, was); err != nil {
			return err
		}
	}

	return nil
}

// unchanged checks that frozen files have not changed.
func (f *Watch) unchanged(main fs.FileInfo) error {
	log, err := f.logInfo()
	if err != nil {
		return err
	}
	if written(main, f.main) || (log == nil) != (f.still == nil) || log != nil && written(log, f.still) {
		return &ReplacedError{f.given, "was written into"}
	}
	return nil
}

func written(now, was fs.FileInfo) bool {
	return now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime())
}

// Rewritten reports whether the main file has changed since the last call. Commits are written to
// the -wal file. The main file therefore changes only during a checkpoint, or if something other
// than SQLite writes to it.
func (f *Watch) Rewritten() bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	moved := f.moved
	f.moved = false
	return moved
}

// Remember makes the next call to Rewritten return true again, because the result of the last call
// had no effect.
func (f *Watch) Remember() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.moved = true
}

func (f *Watch) look(path string, was fs.FileInfo) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &ReplacedError{path, "was deleted"}
	case err != nil:
		return nil, err
	case !os.SameFile(info, was):
		return nil, &ReplacedError{path, "was replaced"}
	}
	return info, nil
}

// InUse records the files next to the ledger. It must be called inside a transaction, in which
// SQLite has both files open.
func (f *Watch) InUse() error {
	f.mu.Lock()
	defer f.mu.Unlock()

	// Once a file has been seen, it must remain in place, because SQLite replaces neither file
	// while it is open.
	for _, suffix := range []string{"-wal", "-shm"} {
		if f.beside[suffix] != nil {
			continue
		}

		info, err := os.Stat(f.Path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			return &ReplacedError{f.Path + suffix, "was deleted"}
		} else if err != nil {
			return err
		}
		f.beside[suffix] = info
	}

	return nil
}

// The write-ahead log begins with a header of 32 bytes. The header changes when SQLite starts again
// at the beginning of the log: https://sqlite.org/fileformat2.html#walformat.
const logHeader = 32

var logMagic = []byte{0x37, 0x7f, 0x06} // followed by 0x82 or 0x83

// Committed checks that the next process to open the ledger can read a transaction: the log must
// have its header and must not have become shorter.
func (f *Watch) Committed() error {
	if err := f.Same(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()

	// The log is opened by its path, because the next process will also open it by path.
	log, err := os.Open(f.Path + "-wal") // SQLite holds no locks on this file
	if err != nil {
		return err
	}
	defer log.Close()

	header := make([]byte, logHeader)
	if _, err := io.ReadFull(log, header); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}

	info, err := log.Stat()
	if err != nil {
		return err
	}

	// A truncated log lacks its header, or has the same header as before but is shorter.
	if !bytes.HasPrefix(header, logMagic) || bytes.Equal(header, f.log) && info.Size() < f.logEnd {
		return &ReplacedError{f.Path + "-wal", "was cut"}
	}

	f.log, f.logEnd = header, info.Size()
	return nil
}
