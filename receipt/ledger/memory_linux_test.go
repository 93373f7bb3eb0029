package ledger_test

import (
	"os"
	"syscall"
)

// inMemory has the files of tests lie in memory where they are not at full size and
// there is room: most of a small ledger's time is waiting for a disk. What is synced, and
// when, is the same.
func inMemory() {
	const folder, room, mayWrite = "/dev/shm", 1 << 30, 0o3
	var s syscall.Statfs_t
	if os.Getenv("CI") != "" || os.Getenv("TMPDIR") != "" || syscall.Access(folder, mayWrite) != nil || syscall.Statfs(folder, &s) != nil {
		return
	}
	if uint64(s.Bsize)*s.Bavail >= room {
		os.Setenv("TMPDIR", folder)
	}
}
