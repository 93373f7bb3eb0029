//go:build !unix

package race

import "time"

var start = time.Now()

// Clock returns the time since the start, because the processor time is not available on this
// system.
func Clock() time.Duration { return time.Since(start) }
