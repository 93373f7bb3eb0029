package conformance_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/scratch"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain makes garbage collection less frequent and keeps temporary files in memory, unless the
// variable CI is set. For further exceptions, see [testsize.Spare] and [scratch.InMemory].
func TestMain(m *testing.M) {
	testsize.Spare(400)
	scratch.InMemory()
	m.Run()
}
