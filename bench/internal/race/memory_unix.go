//go:build unix

package race

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the maximum resident set size, in bytes, of a process that has ended. On
// Linux, it includes the time before exec, so it is never less than the value for this program.
func peakMemory(state *os.ProcessState) float64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(usage.Maxrss)
	}
	return float64(usage.Maxrss) * 1024 // getrusage(2): kilobytes
}
