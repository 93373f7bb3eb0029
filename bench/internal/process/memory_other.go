//go:build !unix

package process

import "os"

// PeakMemory returns 0: this system does not tell.
func PeakMemory(*os.ProcessState) float64 { return 0 }
