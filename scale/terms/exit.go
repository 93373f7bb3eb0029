package terms

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Exit codes, as those of the command receipt.
const (
	ExitVerified  = 0
	ExitRefuted   = 1
	ExitUsage     = 2 // something could not be read or run as asked
	ExitUndecided = 3
)

// Exit is the exit code of a summary. Success has one way only.
func Exit(s *stream.Summary) int {
	switch v := s.Verdict(); {
	case v == receipt.Refuted:
		return ExitRefuted
	case len(s.Inputs.Unreadable) > 0 || s.Receipts == 0:
		return ExitUsage
	case v == receipt.Verified:
		return ExitVerified
	}
	return ExitUndecided
}
