package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// files is a folder with a file for each receipt, named by its number.
type files struct {
	dir, part    string
	count, bytes int
}

func newFiles(dir string) (sink, error) {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is there already; its files would stay among the new ones", dir)
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return nil, err
	}
	return &files{dir: dir, part: part}, os.Mkdir(part, 0o777)
}

func (f *files) put(number int, text []byte) error {
	f.count++
	f.bytes += len(text) + 1
	name := filepath.Join(f.part, fmt.Sprintf("%07d.json", number))
	return os.WriteFile(name, append(slices.Clip(text), '\n'), 0o666) // text is the caller's
}

func (f *files) keep() (string, error) {
	return fmt.Sprintf("%s: %d files, %d bytes", f.dir, f.count, f.bytes), os.Rename(f.part, f.dir)
}

func (f *files) discard() { os.RemoveAll(f.part) }
