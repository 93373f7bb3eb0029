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
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/files"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// addReceipts indexes the receipts that are served.
func addReceipts(ctx context.Context, o *serveOptions, e *cli.Env, trust *trusted, s *serve.Options, log *slog.Logger) error {
	selected, err := selectServed(e, o.receipts)
	if err != nil {
		return err
	}

	index, err := files.Open(ctx, files.Options{Partial: o.partial}, selected.Sources...)
	if err != nil {
		return servedFailure(err)
	}

	// What is not served is in the log.
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

// selectServed finds the files that paths name, by the rules of verify.
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

	named := map[string]bool{} // what is named twice is served once
	selected.Sources = slices.DeleteFunc(selected.Sources, func(src stream.Source) bool {
		twice := named[src.Name]
		named[src.Name] = true
		return twice
	})

	// A server reads again and again, which a pipe does not allow; one may also take the place
	// of a file later.
	for i := range selected.Sources {
		src := &selected.Sources[i]
		path, open := src.Name, src.Open
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return nil, cli.Usage("write the input to a file", "receipts are served from files, found --receipts %q", path)
		}
		src.Open = func() (io.ReadCloser, error) {
			if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe might never end
				return nil, fmt.Errorf("%w: no regular file", serve.ErrChanged)
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
		return cli.Usage("serve one of them, or each by a server of its own", "the receipt_id %.80q is that of two different receipts, %q and %q; an id can name only one",
			conflict.ReceiptID, conflict.First, conflict.Second)
	case errors.Is(err, context.Canceled):
		return cli.Usage("", "interrupted")
	}

	// What holds no receipts is of some use elsewhere.
	var other *stream.OtherKindError
	switch {
	case errors.As(err, &other) && other.Found.Kind == kind.Ledger:
		return cli.Usage("--ledger FILE serves a ledger", "%w", err)
	case errors.As(err, &other):
		return cli.Usage(other.Found.Next, "%w", err)
	}
	return cli.Usage("", "%w", err)
}

// instead is what to do with the first of the files, none of which holds a receipt, if it is
// known what that is.
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

// refusal is what an error of the server's says, for a message that names the file.
func refusal(err error) string {
	var key *protocol.APIKeyError
	var checkpoint *files.CheckpointError
	switch {
	case errors.As(err, &key):
		return key.Detail
	case errors.As(err, &checkpoint):
		return fmt.Sprintf("%s: %s", checkpoint.Code, checkpoint.Detail)
	}
	return err.Error()
}

// logSkipped names what is not served, the first of it.
func logSkipped(log *slog.Logger, list []stream.Notice, count int) {
	const most = 20
	for _, n := range list[:min(len(list), most)] {
		log.Warn("skipped", "source", n.Source, "why", n.Detail)
	}
	if count > most {
		log.Warn("skipped more", "count", count-most)
	}
}

// addProofs serves a checkpoint and proofs. A signature of a trusted key that is
// false refuses it; that nobody who is trusted signed it is for clients to judge.
func addProofs(o *serveOptions, e *cli.Env, judge *trusted, index *files.Index, s *serve.Options, log *slog.Logger) error {
	var logs []*tlog.Log
	if file := judge.file.Load(); file != nil {
		logs = file.Logs()
	}

	h, err := trust.ReadHead(e, o.checkpoint, logs)
	if err != nil {
		return err
	}

	// The checkpoint has to be over the receipts that are served.
	proofs, err := files.NewProofs(index, h.Note)
	if err != nil {
		return cli.Refuted("", "%q: %s", o.checkpoint, refusal(err))
	}
	if len(h.Logs) == 0 {
		log.Warn("no trusted key signed the checkpoint; receipts under it are undecided", "checkpoint", o.checkpoint)
	}

	log.Info("checkpoint", "origin", h.Origin, "receipts", h.Size)
	s.Proofs = proofs
	return nil
}
