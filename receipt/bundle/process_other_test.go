//go:build !linux

package bundle_test

import (
	"testing"
	"time"
)

func processTime(*testing.T) time.Duration { return 0 }
func peakMemory(*testing.T) int64          { return 0 }
