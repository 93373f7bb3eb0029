package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// addReceipts indexes the receipts that are served.
func (o *serveOptions) addReceipts(ctx context.Context, e *env, trust *trusted, s *serve.Options, log *slog.Logger) error {
	selected, err := selectServed(e, o.receipts)
	if err != nil {
		return err
	}
	files, err := serve.OpenFiles(ctx, serve.FilesOptions{Partial: o.partial}, selected.sources...)
	if err != nil {
		return servedFailure(err)
	}
	told := selected.skipped
	more, count := files.Skipped()
	logSkipped(log, append(told, more...), len(told)+count)
	if files.Len() == 0 {
		return usage("", "no receipt was found in %q", o.receipts)
	}
	log.Info("indexed", "receipts", files.Len(), "skipped", len(told)+count)
	s.Source = files
	if o.checkpoint == "" {
		return nil
	}
	return o.addProofs(e, trust, files, s, log)
}

// selectServed finds the files behind paths, by the rules of verify.
func selectServed(e *env, paths []string) (*selection, error) {
	selected, err := selectSources(e, paths, stream.Sniffed)
	switch {
	case err != nil:
		return nil, err
	case selected.stdin:
		return nil, usage("write it to a file", "receipts are served from files, found --receipts -")
	case len(selected.missing) > 0:
		return nil, selected.missing[0].error
	}
	named := map[string]bool{} // what is named twice is served once
	selected.sources = slices.DeleteFunc(selected.sources, func(src stream.Source) bool {
		twice := named[src.Name]
		named[src.Name] = true
		return twice
	})
	for i := range selected.sources {
		src := &selected.sources[i]
		path, open := src.Name, src.Open
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return nil, usage("write it to a file", "receipts are served from files, found --receipts %q", path)
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

// servedFailure words why receipts cannot be served.
func servedFailure(err error) error {
	var conflict *serve.ConflictError
	switch {
	case errors.As(err, &conflict):
		return usage("serve one of them, or each by a server of its own", "%s", withoutPackage(err))
	case errors.Is(err, context.Canceled):
		return usage("", "interrupted")
	}
	return usage("", "%s", withoutPackage(err))
}

func withoutPackage(err error) string { return strings.TrimPrefix(err.Error(), "serve: ") }

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
func (o *serveOptions) addProofs(e *env, judge *trusted, files *serve.Files, s *serve.Options, log *slog.Logger) error {
	var logs []*tlog.Log
	if file := judge.file.Load(); file != nil {
		logs, _ = file.logs()
	}
	h, err := readHead(e, o.checkpoint, logs)
	if err != nil {
		return err
	}
	proofs, err := serve.NewProofs(files, h.note)
	if err != nil {
		return refuted("", "%q: %s", o.checkpoint, withoutPackage(err))
	}
	if len(h.Logs) == 0 {
		log.Warn("no trusted key signed the checkpoint; receipts under it are undecided", "checkpoint", o.checkpoint)
	}
	log.Info("checkpoint", "origin", h.Origin, "receipts", h.Size)
	s.Proofs = proofs
	return nil
}
