package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// inputFlags say how documents are read that are not judged.
type inputFlags struct {
	filesFrom, input string
	long             bool
}

func (f *inputFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.filesFrom, "files-from", "", "read the paths from `FILE`, separated by NUL")
	flags.StringVar(&f.input, "input", "", "how inputs hold receipts: `KIND` json, lines, cbor or cborseq")
	flags.BoolVar(&f.long, "long", false, fmt.Sprintf("allow zstd windows up to %d MiB", stream.MaxLongWindow>>20))
}

// selected finds the inputs, stdin when no path is given. One that is missing
// ends the work: what is made of inputs is made of all of them.
func (f *inputFlags) selected(e *env, paths []string) (*selection, error) {
	kind, err := stream.ParseKind(f.input)
	if err != nil {
		return nil, usage("", "--input is json, lines, cbor or cborseq, found %q", f.input)
	}
	if f.filesFrom != "" {
		list, err := readList(e, f.filesFrom)
		if err != nil {
			return nil, err
		}
		paths = append(slices.Clip(paths), list...)
	}
	if len(paths) == 0 {
		if file, ok := e.in.(*os.File); ok && isTerminal(file) {
			return nil, usage("name a file, or - for stdin", "no receipt was given")
		}
		paths = []string{stdinName}
	}
	s, err := selectSources(e, paths, kind)
	if err != nil {
		return nil, err
	}
	if len(s.missing) > 0 {
		return nil, s.missing[0].error
	}
	return s, nil
}

// each calls do with every document, in the order of the input, and notes those
// that are skipped because they are no receipts.
func (s *selection) each(ctx context.Context, long bool, do func(*stream.Document) error) error {
	for d, err := range stream.Documents(ctx, s.sources, stream.Options{Long: long}) {
		switch {
		case err != nil:
			return documentFailure(err)
		case d.Other != "":
			s.skipped = append(s.skipped, stream.Notice{Source: d.Source, Detail: d.Other})
		default:
			if err := do(d); err != nil {
				return err
			}
		}
	}
	return nil
}

func documentFailure(err error) error {
	var bad *stream.DocumentError
	var incomplete *stream.IncompleteError
	switch {
	case errors.As(err, &bad):
		return refuted(bad.Hint, "%w", bad)
	case errors.As(err, &incomplete):
		return notRead(incomplete.Notices[0])
	}
	return fatal(err)
}

// tellSkipped names what folders hold beside receipts.
func (s *selection) tellSkipped(e *env) {
	label := "skipped"
	for i, n := range s.skipped {
		if i == maxStreams {
			fmt.Fprintf(e.err, "%-*sand %s more\n", labelWidth, "", count(len(s.skipped)-i))
			break
		}
		fmt.Fprintf(e.err, "%-*s%s (%s)\n", labelWidth, label, bare(n.Source), n.Detail)
		label = ""
	}
}
