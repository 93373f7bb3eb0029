package bundle_test

import (
	"syscall"
	"testing"
	"time"
)

func usage(t *testing.T) syscall.Rusage {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u
}

// processTime is what the process has used of processors.
func processTime(t *testing.T) time.Duration {
	u := usage(t)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory is the most that the process has had, in bytes.
func peakMemory(t *testing.T) int64 { return usage(t).Maxrss << 10 }
