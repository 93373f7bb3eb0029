//go:build !unix

package race

import "time"

var start = time.Now()

// Clock is the time since the start, for want of the processor time.
func Clock() time.Duration { return time.Since(start) }
