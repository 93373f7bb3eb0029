package bundle_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processTime returns the processor time that the process has used.
func processTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory returns the peak memory use of the process in bytes. The value from getrusage(2) would
// include the parent process.
func peakMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "\nVmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscanf(line, "%d kB", &kilobytes); err != nil || kilobytes == 0 {
		t.Fatalf("%v in %.40q", err, line)
	}
	return kilobytes << 10
}
