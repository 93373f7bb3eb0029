package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// writeOutput writes a result to stdout for "" and "-", or to a file that it
// creates whole or not at all. An existing file is kept unless force is set.
func writeOutput(e *env, path string, data []byte, mode fs.FileMode, force bool) error {
	if path == "" || path == stdinName {
		_, err := e.out.Write(data)
		return err
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return usage("--force overwrites it", "%q exists already", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usage("", "%q: %w", path, reason(err))
	}
	return replaceFile(path, data, mode)
}

// replaceFile writes a temporary file beside path, syncs it and renames it, so
// that path holds the old content or the new one, never a part.
func replaceFile(path string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".receipt-*")
	if err != nil {
		return usage("", "%q: %w", path, reason(err))
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = usage("", "%q: %w", path, reason(err))
		}
	}()
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
