package schemas_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain makes garbage collection less frequent, because most tests have small heaps. Setting the
// variable CI or GOGC disables this.
func TestMain(m *testing.M) {
	testsize.Spare(400)
	m.Run()
}
