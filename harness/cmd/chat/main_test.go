package main

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/scratch"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMain reduces the number of garbage collections and disk writes unless the tests run at full
// size.
func TestMain(m *testing.M) {
	testsize.Spare(400)
	scratch.InMemory()
	m.Run()
}
