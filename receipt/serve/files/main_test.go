package files

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain spares the little heaps of most tests some collections, where they are not at
// full size.
func TestMain(m *testing.M) {
	testsize.Spare(400)
	m.Run()
}
