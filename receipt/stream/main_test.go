package stream_test

import (
	"runtime/debug"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain makes garbage collection less frequent until the heap approaches 384 MiB, unless the
// variable CI or GOGC is set.
func TestMain(m *testing.M) {
	if testsize.Spare(800) {
		debug.SetMemoryLimit(384 << 20)
	}
	m.Run()
}
