package file

import (
	"encoding/binary"
	"io"
	"os"
	"syscall"
	"time"
)

// Writers of all processes use FILE-head to form a queue. A process draws the next number of a
// lane, and locks the byte that corresponds to the number. Its turn begins when no process has
// locked the byte of a lower number. When a process ends, the system releases its locks. The locks
// belong to the open file and not to the process (F_OFD_SETLK, fcntl(2)), so threads queue in the
// same way as processes.
//
// A turn determines only the order. If the queue cannot be used, or if a process in it makes no
// progress, SQLite's own locks are sufficient.

// Of fcntl(2).
const (
	ofdLock     = 37
	ofdLockWait = 38
)

const (
	lanesBegin = markPlaces * markBytes // offset of the last number drawn in each lane (8 bytes per lane)
	laneBytes  = int64(1) << 40         // length of the range of lock bytes for each lane; all ranges are far beyond the content of the file
)

// A ticket represents a place in a lane of the queue.
type ticket struct {
	file *os.File
	gate int64 // offset of the byte that is locked while a number is drawn
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

// wait waits until all earlier tickets have ended or until patience has elapsed. It reports whether
// the turn of the ticket has begun.
func (t *ticket) wait(patience time.Duration) bool {
	if t == nil || t.lock(ofdLock, syscall.F_RDLCK, t.gate+1, t.mine-1) == nil {
		return true
	}

	// An earlier ticket has not ended. fcntl(2) cannot be interrupted, so another goroutine waits
	// for that ticket.
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

// draw draws the next number of the lane.
func (t *ticket) draw(lane int) error {
	if err := t.lock(ofdLockWait, syscall.F_WRLCK, t.gate, 1); err != nil {
		return err
	}
	defer t.lock(ofdLock, syscall.F_UNLCK, t.gate, 1)

	// While the gate is locked, no other process draws a number of this lane.
	var last [8]byte
	at := lanesBegin + int64(lane)*int64(len(last))
	if _, err := t.file.ReadAt(last[:], at); err != nil && err != io.EOF {
		return err
	}

	n := int64(binary.BigEndian.Uint64(last[:]))
	if n < 0 || n >= laneBytes/2 { // damaged
		n = 0
	}

	// The byte is locked before the number is written, so that no process with a higher number can
	// overtake this process.
	t.mine = n + 1
	if err := t.lock(ofdLock, syscall.F_WRLCK, t.gate+t.mine, 1); err != nil {
		return err
	}

	binary.BigEndian.PutUint64(last[:], uint64(t.mine))
	_, err := t.file.WriteAt(last[:], at)
	return err
}

// lock locks a range of bytes. For an empty range, it does nothing and returns nil.
func (t *ticket) lock(command int, kind int16, from, bytes int64) error {
	if bytes == 0 {
		return nil // because fcntl interprets length 0 as "up to the end of the file"
	}
	raw, err := t.file.SyscallConn()
	if err != nil {
		return err
	}

	// If a signal interrupts the call, the lock has not been acquired (EINTR).
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

// end allows the next ticket to proceed. If the ticket is still waiting, its file remains open
// until the wait ends.
func (t *ticket) end() {
	if t == nil {
		return
	}
	if t.mine > 0 {
		t.lock(ofdLock, syscall.F_UNLCK, t.gate+t.mine, 1)
	}
	t.file.Close()
}
