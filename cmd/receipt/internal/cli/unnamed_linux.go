package cli

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// openUnnamed creates a file without a name in a directory, so that nothing remains if the process
// is killed (open(2), O_TMPFILE). It returns nil if the system does not support this.
func openUnnamed(folder string) *os.File {
	const unnamed = 0x400000 | syscall.O_DIRECTORY // O_TMPFILE
	f, err := os.OpenFile(folder, os.O_WRONLY|unnamed, 0o600)
	if err != nil {
		return nil
	}

	// The file is later named by this path.
	if _, err := os.Stat(pathOf(f)); err != nil {
		f.Close()
		return nil
	}
	return f
}

func pathOf(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// nameFile gives an unnamed file a name that must not exist. os.Link does not follow the link in
// /proc, so the system call is made directly (linkat(2)).
func nameFile(f *os.File, path string) error {
	from, err := syscall.BytePtrFromString(pathOf(f))
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}

	const here, follow = -100, 0x400 // AT_FDCWD, AT_SYMLINK_FOLLOW
	folder := here                   // a variable, because the constant is negative
	_, _, failed := syscall.Syscall6(syscall.SYS_LINKAT, uintptr(folder), uintptr(unsafe.Pointer(from)), uintptr(folder), uintptr(unsafe.Pointer(to)), follow, 0)
	if failed != 0 {
		return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: failed}
	}
	return nil
}
