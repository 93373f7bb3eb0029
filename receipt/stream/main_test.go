package stream_test

import (
	"runtime/debug"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain reduces garbage collection for small heaps, except at full size, where it limits large
// heaps.
func TestMain(m *testing.M) {
	if testsize.Spare(800) {
		debug.SetMemoryLimit(384 << 20)
	}
	m.Run()
}
