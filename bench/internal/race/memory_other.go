//go:build !unix

package race

import "os"

// peakMemory returns 0, because this system does not report peak memory.
func peakMemory(*os.ProcessState) float64 { return 0 }
