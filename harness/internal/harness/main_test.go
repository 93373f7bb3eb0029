package harness_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/scratch"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain spares the little heaps of most tests some collections, and their little ledgers
// the disk, where they are not at full size.
func TestMain(m *testing.M) {
	testsize.Spare(400)
	scratch.InMemory()
	m.Run()
}
