package input

import (
	"context"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Fatal returns the failure for a run that has no result. It returns nil if inputs could not be
// read, because the summary lists them, or if the caller stopped early.
func Fatal(err error) error {
	var incomplete *stream.IncompleteError
	switch {
	case err == nil || errors.As(err, &incomplete) || errors.Is(err, stream.ErrStopped) || errors.Is(err, stream.ErrNoSources):
		return nil
	case errors.Is(err, context.Canceled):
		return cli.Usage("", "interrupted")
	case errors.Is(err, stream.ErrStreams):
		return cli.Usage("use a report of an earlier run, which contains the heads of all streams", "the input contains several streams, so a single hash or count does not apply to it")
	}
	return cli.Usage("", "%w", cli.Reason(err))
}

// NotRead returns the failure for an input that could not be read.
func NotRead(n stream.Notice) error {
	if n.Kind.Kind != "" {
		return noReceipt(n.Source, n.Kind)
	}
	hint := n.Hint
	if n.Wide {
		hint = fmt.Sprintf("--long allows windows up to %d MiB", unpack.MaxLongWindow>>20)
	}
	return cli.Usage(hint, "%q: %s", n.Source, n.Detail)
}

// documentFailure returns the failure for an input whose documents are read but not verified.
func documentFailure(err error) error {
	var bad *stream.DocumentError
	var incomplete *stream.IncompleteError
	switch {
	case errors.As(err, &bad):
		return cli.Refuted(bad.Hint, "%w", bad)
	case errors.As(err, &incomplete):
		return NotRead(incomplete.Notices[0])
	}
	return Fatal(err)
}
