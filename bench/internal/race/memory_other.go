//go:build !unix

package race

import "os"

// peakMemory returns 0: this system does not tell.
func peakMemory(*os.ProcessState) float64 { return 0 }
