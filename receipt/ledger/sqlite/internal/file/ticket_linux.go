package file

import (
	"encoding/binary"
	"io"
	"os"
	"syscall"
	"time"
)

// Writers queue across processes in FILE-head. A process draws the next number of a lane and locks
// the byte with that number. Its turn comes when no process holds the byte of a smaller number. The
// system releases the locks of processes that end. The locks belong to the open file, not to the
// process (F_OFD_SETLK, fcntl(2)), so threads queue like processes.
//
// A turn only determines the order. If the queue cannot be used, or a process in it makes no
// progress, SQLite's own locks decide.

// Of fcntl(2).
const (
	ofdLock     = 37
	ofdLockWait = 38
)

const (
	lanesBegin = markPlaces * markBytes // offset of the last drawn numbers, 8 bytes each
	laneBytes  = int64(1) << 40         // bytes for a lane's locks, far beyond the content of the file
)

// A ticket is a place in a lane.
type ticket struct {
	file *os.File
	gate int64 // its lock is held while a number is drawn
	mine int64
}

// drawTicket takes the last place in a lane, or returns nil if there is no queue.
func drawTicket(path string, lane int) *ticket {
	f, err := openHead(path)
	if err != nil {
		return nil
	}
	t := &ticket{file: f, gate: int64(lane+1) * laneBytes}
	if t.draw(lane) != nil {
		t.end()
		return nil
	}
	return t
}

// wait waits until all earlier tickets are done or until patience has elapsed. It reports whether
// its turn has come.
func (t *ticket) wait(patience time.Duration) bool {
	if t == nil || t.lock(ofdLock, syscall.F_RDLCK, t.gate+1, t.mine-1) == nil {
		return true
	}

	// There is an earlier ticket. fcntl(2) cannot be interrupted, so another goroutine waits.
	first := make(chan error, 1)
	go func() { first <- t.lock(ofdLockWait, syscall.F_RDLCK, t.gate+1, t.mine-1) }()
	late := time.NewTimer(patience)
	defer late.Stop()

	select {
	case <-first:
		return true
	case <-late.C:
		return false
	}
}

// draw takes the next number of the lane.
func (t *ticket) draw(lane int) error {
	if err := t.lock(ofdLockWait, syscall.F_WRLCK, t.gate, 1); err != nil {
		return err
	}
	defer t.lock(ofdLock, syscall.F_UNLCK, t.gate, 1)

	// The gate is locked, so nobody else draws a number of this lane.
	var last [8]byte
	at := lanesBegin + int64(lane)*int64(len(last))
	if _, err := t.file.ReadAt(last[:], at); err != nil && err != io.EOF {
		return err
	}

	n := int64(binary.BigEndian.Uint64(last[:]))
	if n < 0 || n >= laneBytes/2 { // damaged
		n = 0
	}

	// The byte is locked before the number is written, so that no later number overtakes it.
	t.mine = n + 1
	if err := t.lock(ofdLock, syscall.F_WRLCK, t.gate+t.mine, 1); err != nil {
		return err
	}

	binary.BigEndian.PutUint64(last[:], uint64(t.mine))
	_, err := t.file.WriteAt(last[:], at)
	return err
}

// lock locks a range of bytes. An empty range is always locked.
func (t *ticket) lock(command int, kind int16, from, bytes int64) error {
	if bytes == 0 {
		return nil // to fcntl, length 0 means up to the end of the file
	}
	raw, err := t.file.SyscallConn()
	if err != nil {
		return err
	}

	// A signal ends the call without acquiring the lock (EINTR).
	var failed error
	err = raw.Control(func(fd uintptr) {
		for {
			lock := syscall.Flock_t{Type: kind, Start: from, Len: bytes}
			if failed = syscall.FcntlFlock(fd, command, &lock); failed != syscall.EINTR {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// end lets the next ticket proceed. A ticket that is still waiting keeps its file open until then.
func (t *ticket) end() {
	if t == nil {
		return
	}
	if t.mine > 0 {
		t.lock(ofdLock, syscall.F_UNLCK, t.gate+t.mine, 1)
	}
	t.file.Close()
}
