package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"io"

	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A first contains the result of the first pass over one input, except for the records.
type first struct {
	Input  input  `json:"input"`  // input with the version that was read
	SHA256 []byte `json:"sha256"` // digest of the input's bytes, as they are stored
	Docs   int    `json:"docs"`

	Counts  join.Counts     `json:"counts"` // counts of documents that state no place in a stream
	Inputs  stream.Inputs   `json:"inputs"`
	Skipped []stream.Notice `json:"skipped"`
	Others  int             `json:"others"` // number of all skipped documents

	Changed string `json:"changed,omitzero"` // the input was replaced while it was being read
}

// A firstReading verifies each input separately, and emits a record for each receipt.
type firstReading struct {
	worker
}

// ProcessElement reads and verifies one input. Records with an ID go to the first grouping; records
// without an ID are emitted separately.
func (f *firstReading) ProcessElement(ctx context.Context, element []byte, byID func([]byte, []byte), alone func([]byte), readings func(int, []byte), gaps func(int, int64)) error {
	var out first
	if err := json.Unmarshal(element, &out.Input); err != nil {
		return err
	}
	number := out.Input.Number
	source, pinned, err := f.reader.source(ctx, out.Input)
	if err != nil {
		return err
	}

	// The second pass must read the same bytes.
	sum, unplaced := sha256.New(), false
	options := stream.Options{Long: f.run.Long, Partial: f.run.Partial, Checkpoint: f.run.Log}
	place := func(r *join.Record) error {
		if unplaced = r == nil; unplaced {
			return nil
		}
		r.Place.Source = number
		if id, ok := r.Key(); ok {
			byID(id[:], r.Append(nil))
		} else {
			alone(r.Append(nil))
		}
		return nil
	}
	run := stream.Records(ctx, f.verifier, []stream.Source{hashed(source, sum)}, options, out.Input.Tree, place)
	for rep := range run.Reports() {
		if out.Docs++; unplaced {
			out.Counts.Gap(rep.Verdict, rep.Finding().Code)
		}
	}

	s, err := run.Summary()
	var incomplete *stream.IncompleteError
	switch {
	case errors.Is(err, stream.ErrChanged):
		out.Changed = err.Error()
	case err != nil && !errors.As(err, &incomplete):
		return err
	}
	out.Counts.Leave(s.Unchecked, s.Withheld)
	if out.Input, err = pinned(); err != nil {
		return err
	}
	out.SHA256, out.Inputs, out.Skipped, out.Others = sum.Sum(nil), s.Inputs, s.Skipped, s.SkippedCount
	if seen := out.Input.Seen; seen != nil && !bytes.Equal(seen, out.SHA256) {
		out.Changed = stream.ErrChanged.Error()
	}
	gaps(ofAll, out.Counts.Gaps)
	return emitJSON(readings, number, out)
}

// hashed returns a source whose bytes are added to a hash when they are read. When the source is
// closed, all of its bytes have been added, including bytes after damage at which reading stopped.
func hashed(s stream.Source, h hash.Hash) stream.Source {
	open := s.Open
	s.Open = func() (io.ReadCloser, error) {
		r, err := open()
		if err != nil {
			return nil, err
		}
		h.Reset()
		return &tee{io.TeeReader(r, h), r}, nil
	}
	return s
}

type tee struct {
	io.Reader
	file io.Closer
}

// Close reads the remaining bytes and closes the source.
func (t *tee) Close() error {
	_, _ = io.Copy(io.Discard, t.Reader) // neither pass can read these bytes
	return t.file.Close()
}
