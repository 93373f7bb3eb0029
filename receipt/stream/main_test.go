package stream_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain spares the little heaps of most tests some collections, where they are not at
// full size, and bounds the large ones.
func TestMain(m *testing.M) {
	if os.Getenv("CI") == "" && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
		debug.SetMemoryLimit(384 << 20)
	}
	m.Run()
}
