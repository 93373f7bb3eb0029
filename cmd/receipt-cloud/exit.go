package main

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Exit codes, as those of the command receipt.
const (
	exitVerified  = 0
	exitRefuted   = 1
	exitUsage     = 2
	exitUndecided = 3
)

// An exitCode ends a run that has told everything.
type exitCode int

func (exitCode) Error() string { return "" }

// exitOf is the exit code of a summary. Success has one way only.
func exitOf(s *stream.Summary) error {
	switch v := s.Verdict(); {
	case v == receipt.Refuted:
		return exitCode(exitRefuted)
	case len(s.Inputs.Unreadable) > 0 || s.Receipts == 0:
		return exitCode(exitUsage)
	case v == receipt.Verified:
		return nil
	}
	return exitCode(exitUndecided)
}
