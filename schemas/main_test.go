package schemas_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain reduces garbage collection for the small heaps of most tests, except at full size.
func TestMain(m *testing.M) {
	testsize.Spare(400)
	m.Run()
}
