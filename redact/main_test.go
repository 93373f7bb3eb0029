package redact_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain makes garbage collection less frequent unless the tests run at full size, because the
// heaps are small.
func TestMain(m *testing.M) {
	testsize.Spare(400)
	m.Run()
}
