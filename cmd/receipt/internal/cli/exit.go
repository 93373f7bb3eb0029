package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Exit codes. Nothing but a positive verdict returns exitVerified.
const (
	ExitVerified  = 0
	ExitRefuted   = 1
	ExitUsage     = 2 // something could not be read or run as asked
	ExitUndecided = 3
)

// A Failure ends a verb: with an exit code, a message and a hint, either of
// which may be empty when the verb has said everything already.
type Failure struct {
	Code int
	Err  error
	Hint string
}

func (f *Failure) Error() string {
	if f.Err == nil {
		return ""
	}
	return f.Err.Error()
}

func (f *Failure) Unwrap() error { return f.Err }

// Usage is a failure of the caller's: a flag, a path, a file that cannot be read, or a signal.
func Usage(hint, format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok && errors.Is(err, context.Canceled) {
			args[i] = interrupted{err}
		}
	}
	return &Failure{ExitUsage, fmt.Errorf(format, args...), hint}
}

// interrupted is what a signal ended, in words for whoever sent it.
type interrupted struct{ error }

func (interrupted) Error() string   { return "interrupted" }
func (i interrupted) Unwrap() error { return i.error }

// Undecided is a failure for want of evidence.
func Undecided(hint, format string, args ...any) error {
	return &Failure{ExitUndecided, fmt.Errorf(format, args...), hint}
}

// Refuted is a failure of the evidence's.
func Refuted(hint, format string, args ...any) error {
	return &Failure{ExitRefuted, fmt.Errorf(format, args...), hint}
}

// VerdictExit is the exit code of one verdict.
func VerdictExit(v receipt.Verdict) int {
	switch v {
	case receipt.Verified:
		return ExitVerified
	case receipt.Refuted:
		return ExitRefuted
	}
	return ExitUndecided
}

// ExitWith is a failure that has been told already; nil for success.
func ExitWith(code int) error {
	if code == ExitVerified {
		return nil
	}
	return &Failure{Code: code}
}

// Finish prints what a verb failed with and returns the exit code.
func Finish(e *Env, err error) int {
	if err == nil {
		return ExitVerified
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) { // the reader has seen enough
		return ExitUsage
	}

	code := ExitUsage
	var f *Failure
	if errors.As(err, &f) {
		code = f.Code
	}

	Tell(e, err)
	return code
}

// hintOf is what to do about a failure: what the verb says, else what the parse saw of
// a file that is no JSON.
func hintOf(err error) string {
	var f *Failure
	if errors.As(err, &f) && f.Hint != "" {
		return f.Hint
	}
	var syntax *canon.SyntaxError
	var inKeys *keys.SetError // has the hint in its text
	if errors.As(err, &syntax) && !errors.As(err, &inKeys) {
		return syntax.Hint
	}
	return ""
}

// Tell prints an error and what to do about it.
func Tell(e *Env, err error) { e.say("error", err.Error(), hintOf(err)) }

// Reason takes the path out of a file error, which the message names already.
func Reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// SummaryExit is the exit code of a run. Success has one way only.
func SummaryExit(s *stream.Summary) int {
	v := s.Verdict()
	if v != receipt.Refuted && (len(s.Inputs.Unreadable) > 0 || s.Receipts == 0) {
		return ExitUsage
	}
	return VerdictExit(v)
}
