package main

import (
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestNext verifies that the command replaces the next step of exactly 15 codes, which shows that
// each code in Next is registered.
func TestNext(t *testing.T) {
	own := 0
	for _, info := range receipt.Codes() {
		if print.Next(info) != info.Next {
			own++
		}
	}
	if own != 15 {
		t.Errorf("%d codes have a next step of the command's own, want 15", own)
	}
}
