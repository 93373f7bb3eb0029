package main

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// fatal returns the error of a run that has no result. Inputs that could not be
// read are in the summary, and stopping early was asked for.
func fatal(err error) error {
	var incomplete *stream.IncompleteError
	switch {
	case err == nil || errors.As(err, &incomplete) || errors.Is(err, stream.ErrStopped):
		return nil
	case errors.Is(err, context.Canceled):
		return usage("", "interrupted")
	case errors.Is(err, stream.ErrStreams):
		return usage("give a report of an earlier run, which names the heads of all streams", "the input holds several streams, so one hash or count cannot be about it")
	}
	return usage("", "%w", reason(err))
}

func notRead(n stream.Notice) error {
	return usage(n.Hint, "%q: %s", n.Source, n.Detail)
}
