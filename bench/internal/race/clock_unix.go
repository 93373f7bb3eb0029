//go:build unix

package race

import (
	"syscall"
	"time"
)

// Clock is the processor time of this process, its garbage collector included.
// Unlike the time of day it does not run while another program has the core.
func Clock() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for wrong arguments only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
