//go:build unix

package process

import (
	"os"
	"runtime"
	"syscall"
)

// PeakMemory returns the largest resident set of a process that has ended, in
// bytes. On Linux it counts from before exec and so is never less than what this
// program has itself.
func PeakMemory(state *os.ProcessState) float64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(usage.Maxrss)
	}
	return float64(usage.Maxrss) * 1024 // getrusage(2): kilobytes
}
