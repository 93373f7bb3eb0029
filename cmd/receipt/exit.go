package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Exit codes. Nothing but a positive verdict returns exitVerified.
const (
	exitVerified  = 0
	exitRefuted   = 1
	exitUsage     = 2 // something could not be read or run as asked
	exitUndecided = 3
)

// A failure ends a verb: with an exit code, a message and a hint, either of
// which may be empty when the verb has said everything already.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// usage is a failure of the caller's: a flag, a path, a file that cannot be read.
func usage(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...), hint}
}

// refuted is a failure of the evidence's.
func refuted(hint, format string, args ...any) error {
	return &failure{exitRefuted, fmt.Errorf(format, args...), hint}
}

// verdictExit is the exit code of one verdict.
func verdictExit(v receipt.Verdict) int {
	switch v {
	case receipt.Verified:
		return exitVerified
	case receipt.Refuted:
		return exitRefuted
	}
	return exitUndecided
}

// exitWith is a failure that has been told already; nil for success.
func exitWith(code int) error {
	if code == exitVerified {
		return nil
	}
	return &failure{code: code}
}

// finish prints what a verb failed with and returns the exit code.
func finish(e *env, err error) int {
	if err == nil {
		return exitVerified
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) { // the reader has seen enough
		return exitUsage
	}
	code, hint := exitUsage, ""
	var f *failure
	if errors.As(err, &f) {
		code, hint = f.code, f.hint
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(e.err, "receipt: error: %s\n", e.withoutSecrets(escapeText(text)))
	}
	if hint != "" {
		fmt.Fprintf(e.err, "receipt: hint: %s\n", escapeText(hint))
	}
	return code
}

// tell prints an error that does not end the run.
func tell(e *env, err error) {
	fmt.Fprintf(e.err, "receipt: error: %s\n", escapeText(err.Error()))
	var f *failure
	if errors.As(err, &f) && f.hint != "" {
		fmt.Fprintf(e.err, "receipt: hint: %s\n", escapeText(f.hint))
	}
}

// reason takes the path out of a file error, which the message names already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// summaryExit is the exit code of a run. Success has one way only.
func summaryExit(s *stream.Summary) int {
	v := s.Verdict()
	if v != receipt.Refuted && (len(s.Inputs.Unreadable) > 0 || s.Receipts == 0) {
		return exitUsage
	}
	return verdictExit(v)
}
