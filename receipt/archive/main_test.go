package archive_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain spares the little heaps of most tests some collections, where they are not at
// full size.
func TestMain(m *testing.M) {
	if os.Getenv("CI") == "" && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	m.Run()
}
