package join_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain reduces the number of collections of small heaps, except at full size.
func TestMain(m *testing.M) {
	testsize.Spare(400)
	m.Run()
}
