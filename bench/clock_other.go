//go:build !unix

package main

import "time"

var start = time.Now()

// clock is the time since the start, for want of the processor time.
func clock() time.Duration { return time.Since(start) }
