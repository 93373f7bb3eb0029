package cli

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnnamed creates a file without a name in a directory, so that nothing remains if the process
// is killed (open(2), O_TMPFILE). It returns nil if the system does not support this.
func openUnnamed(folder string) *os.File {
	f, err := os.OpenFile(folder, os.O_WRONLY|unix.O_TMPFILE, 0o600)
	if err != nil {
		return nil
	}

	// The file is later linked from this path.
	if _, err := os.Stat(pathOf(f)); err != nil {
		f.Close()
		return nil
	}
	return f
}

func pathOf(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// nameFile gives an unnamed file its name, and fails if another file has this name. It does not use
// os.Link, which does not follow the link in /proc.
func nameFile(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, pathOf(f), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: err}
	}
	return nil
}
