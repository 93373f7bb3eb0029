package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/files"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// addReceipts creates an index of the receipts to serve.
func addReceipts(ctx context.Context, o *serveOptions, e *cli.Env, trust *trusted, s *serve.Options, log *slog.Logger) error {
	selected, err := selectServed(e, o.receipts)
	if err != nil {
		return err
	}

	index, err := files.Open(ctx, files.Options{Partial: o.partial}, selected.Sources...)
	if err != nil {
		return servedFailure(err)
	}

	// The inputs that are not served are logged.
	more, count := index.Skipped()
	told := append(selected.Skipped, more...)
	count += len(selected.Skipped)
	logSkipped(log, told, count)
	if index.Len() == 0 {
		return cli.Usage(instead(selected.Sources), "no receipt was found in %q", o.receipts)
	}

	log.Info("indexed", "receipts", index.Len(), "skipped", count)
	s.Source = index
	if o.checkpoint == "" {
		return nil
	}

	return addProofs(o, e, trust, index, s, log)
}

// selectServed selects the files in paths by the same rules as the command "receipt verify".
func selectServed(e *cli.Env, paths []string) (*input.Selection, error) {
	selected, err := input.SelectSources(e, paths, stream.Sniffed)
	switch {
	case err != nil:
		return nil, err
	case selected.Stdin:
		return nil, cli.Usage("write the input to a file", "receipts are served from files, found --receipts -")
	case len(selected.Missing) > 0:
		return nil, selected.Missing[0]
	}

	named := map[string]bool{} // a file that is named twice is served once
	selected.Sources = slices.DeleteFunc(selected.Sources, func(src stream.Source) bool {
		twice := named[src.Name]
		named[src.Name] = true
		return twice
	})

	// The server reads files repeatedly, but a pipe can be read only once. A pipe may also replace
	// a file later, so the type is checked again each time the file is opened.
	for i := range selected.Sources {
		src := &selected.Sources[i]
		path, open := src.Name, src.Open
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return nil, cli.Usage("write the input to a file", "receipts are served from files, found --receipts %q", path)
		}
		src.Open = func() (io.ReadCloser, error) {
			if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe may block forever
				return nil, fmt.Errorf("%w: not a regular file", serve.ErrChanged)
			}
			return open()
		}
	}

	return selected, nil
}

// servedFailure describes why receipts cannot be served.
func servedFailure(err error) error {
	var conflict *files.ConflictError
	switch {
	case errors.As(err, &conflict):
		return cli.Usage("serve one of them, or use a separate server for each", "the receipt_id %.80q belongs to two different receipts, %q and %q",
			conflict.ReceiptID, conflict.First, conflict.Second)
	case errors.Is(err, context.Canceled):
		return cli.Usage("", "interrupted")
	}

	// If the file is of another kind, the hint names the command or flag that accepts this kind.
	var other *stream.OtherKindError
	switch {
	case errors.As(err, &other) && other.Found.Kind == kind.Ledger:
		return cli.Usage("--ledger FILE serves a ledger", "%w", err)
	case errors.As(err, &other):
		return cli.Usage(other.Found.Next, "%w", err)
	}
	return cli.Usage("", "%w", err)
}

// instead returns a hint about the first of several files without receipts. It returns "" if the
// kind of this file is not recognized.
func instead(sources []stream.Source) string {
	if len(sources) == 0 {
		return ""
	}
	file, err := sources[0].Open()
	if err != nil {
		return ""
	}
	defer file.Close()

	head, err := io.ReadAll(io.LimitReader(file, kind.Head))
	if found := kind.Of(head, len(head) < kind.Head); err == nil && found.Kind != kind.Unknown {
		return input.Next(found, sources[0].Name)
	}
	return ""
}

// refusal formats an error of the server for a message that already contains the file name.
func refusal(err error) string {
	if checkpoint, ok := errors.AsType[*files.CheckpointError](err); ok {
		return fmt.Sprintf("%s: %s", checkpoint.Code, checkpoint.Detail)
	}
	return err.Error()
}

// logSkipped logs the first few skipped inputs and the number of the remaining ones.
func logSkipped(log *slog.Logger, list []stream.Notice, count int) {
	const most = 20
	for _, n := range list[:min(len(list), most)] {
		log.Warn("skipped", "source", n.Source, "why", n.Detail)
	}
	if count > most {
		log.Warn("skipped more", "count", count-most)
	}
}

// addProofs serves a checkpoint and its inclusion proofs. It returns an error if the signature of a
// trusted key is invalid. If no trusted key signed the checkpoint, it only logs a warning, because
// clients decide which keys they trust.
func addProofs(o *serveOptions, e *cli.Env, judge *trusted, index *files.Index, s *serve.Options, log *slog.Logger) error {
	var logs []*tlog.Log
	if file := judge.file.Load(); file != nil {
		logs = receipt.Logs(file.Set)
	}

	h, err := trust.ReadHead(e, o.checkpoint, logs)
	if err != nil {
		return err
	}

	// The checkpoint must cover the receipts that are served.
	proofs, err := files.NewProofs(index, h.Note)
	if err != nil {
		return cli.Refuted("", "%q: %s", o.checkpoint, refusal(err))
	}
	if len(h.Logs) == 0 {
		log.Warn("no trusted key signed the checkpoint; receipts that it covers are undecided", "checkpoint", o.checkpoint)
	}

	log.Info("checkpoint", "origin", h.Origin, "receipts", h.Size)
	s.Proofs = proofs
	return nil
}
