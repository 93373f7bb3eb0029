package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteOutput writes a result to stdout for "" and "-", or to a file that it
// creates whole or not at all. An existing file is kept unless force is set.
func WriteOutput(e *Env, path string, data []byte, mode fs.FileMode, force bool) error {
	if path == "" || path == StdinName {
		_, err := e.Out.Write(data)
		return err
	}
	if _, err := MayWrite(path, force); err != nil {
		return err
	}
	return ReplaceFile(path, data, mode)
}

// MayWrite says whether a file may get the name path, and whether it takes that of
// another, which needs force. A device or a pipe is never replaced: what was to be
// written into it would be written beside it, and it would be gone.
func MayWrite(path string, force bool) (replaces bool, err error) {
	_, err = os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, Usage("", "%q: %w", path, Reason(err))
	}

	info, err := os.Stat(path) // of a link what it leads to, if that is there
	switch {
	case err == nil && info.IsDir():
		return false, Usage("", "%q is a folder, expected a file", path)
	case err == nil && !info.Mode().IsRegular():
		return false, Usage("", "%q is a device, a pipe or a socket, expected a file", path)
	case !force:
		return false, Usage("--force overwrites it", "%q exists already", path)
	}

	return true, nil
}

// SameFile reports whether two paths lead to one file, or are the same path.
func SameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}
