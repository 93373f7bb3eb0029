package terms

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// The exit codes are the same as those of the command "receipt".
const (
	ExitVerified  = 0
	ExitRefuted   = 1
	ExitUsage     = 2 // an input could not be read, or the command could not run as requested
	ExitUndecided = 3
)

// Exit returns the exit code for a summary. Only one branch returns success.
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
