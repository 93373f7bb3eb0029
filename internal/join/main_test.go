package join_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain makes the garbage collector run less often while the heap is small, except at full size.
func TestMain(m *testing.M) {
	testsize.Spare(400)
	m.Run()
}
