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

// Exit codes. ExitVerified is returned only if the verdict is verified.
const (
	ExitVerified  = 0
	ExitRefuted   = 1
	ExitUsage     = 2 // something could not be read, or the command could not run as requested
	ExitUndecided = 3
)

// A Failure ends a command with an exit code, a message, and a hint. The message and the hint
// are empty if everything has already been reported.
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

// Usage returns a failure that the caller caused: an invalid flag, an unreadable file, or a
// signal.
func Usage(hint, format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok && errors.Is(err, context.Canceled) {
			args[i] = interrupted{err}
		}
	}
	return &Failure{ExitUsage, fmt.Errorf(format, args...), hint}
}

// An interrupted error replaces the message of a canceled context with a clearer message.
type interrupted struct{ error }

func (interrupted) Error() string   { return "interrupted" }
func (i interrupted) Unwrap() error { return i.error }

// Undecided returns a failure caused by missing evidence.
func Undecided(hint, format string, args ...any) error {
	return &Failure{ExitUndecided, fmt.Errorf(format, args...), hint}
}

// Refuted returns a failure caused by invalid evidence.
func Refuted(hint, format string, args ...any) error {
	return &Failure{ExitRefuted, fmt.Errorf(format, args...), hint}
}

// VerdictExit returns the exit code of a verdict.
func VerdictExit(v receipt.Verdict) int {
	switch v {
	case receipt.Verified:
		return ExitVerified
	case receipt.Refuted:
		return ExitRefuted
	}
	return ExitUndecided
}

// ExitWith returns a failure that has already been reported, or nil for success.
func ExitWith(code int) error {
	if code == ExitVerified {
		return nil
	}
	return &Failure{Code: code}
}

// Finish prints the failure of a command, and returns the exit code.
func Finish(e *Env, err error) int {
	if err == nil {
		return ExitVerified
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) { // the reader closed the pipe, so there is nothing to report
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

// hintOf returns the hint for a failure. If the command provided no hint, and a file is not JSON,
// the hint is from the parser.
func hintOf(err error) string {
	var f *Failure
	if errors.As(err, &f) && f.Hint != "" {
		return f.Hint
	}
	var syntax *canon.SyntaxError
	var inKeys *keys.SetError // the text of the error already contains the hint
	if errors.As(err, &syntax) && !errors.As(err, &inKeys) {
		return syntax.Hint
	}
	return ""
}

// Tell prints an error and its hint.
func Tell(e *Env, err error) { e.say("error", err.Error(), hintOf(err)) }

// Reason removes the path from a file error, for messages that already contain it.
func Reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// SummaryExit returns the exit code for the summary of a run. Only one of its return statements
// means success.
func SummaryExit(s *stream.Summary) int {
	v := s.Verdict()
	if v != receipt.Refuted && (len(s.Inputs.Unreadable) > 0 || s.Receipts == 0) {
		return ExitUsage
	}
	return VerdictExit(v)
}
