package receipt_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain makes garbage collection less frequent unless the environment variable CI or GOGC is
// set, because most tests have small heaps.
func TestMain(m *testing.M) {
	testsize.Spare(400)
	m.Run()
}
