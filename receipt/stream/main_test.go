package stream_test

import (
	"runtime/debug"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain spares the little heaps of most tests some collections, where they are not at
// full size, and bounds the large ones.
func TestMain(m *testing.M) {
	if testsize.Spare(800) {
		debug.SetMemoryLimit(384 << 20)
	}
	m.Run()
}
