//go:build unix

package race

import (
	"syscall"
	"time"
)

// Clock returns the processor time of this process, including garbage collection. Unlike the time
// of day, it does not advance while another program uses the core.
func Clock() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the call fails only for invalid arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
