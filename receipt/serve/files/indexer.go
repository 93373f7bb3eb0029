package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An indexer creates an Index.
type indexer struct {
	index    *Index
	verifier *receipt.Verifier
	doc      *canon.Document
	bytes    []byte // a CBOR item
	streams  map[chain.Stream]int32
	links    map[receipt.Check]int32
	ids      pile[place] // the unsorted places of the index
	tasks    pile[place]

	// The following fields describe the current file.
	current int32    // number of the file; -1 before the first file
	file    readerAt // nil for a compressed file
	locator *locator
	packed  int // number of bytes of receipts in a compressed file
}

func newIndexer(v *receipt.Verifier) *indexer {
	return &indexer{index: &Index{codec: archive.NewCodec()}, verifier: v, doc: new(canon.Document),
		streams: map[chain.Stream]int32{}, links: map[receipt.Check]int32{}, current: -1}
}

// read indexes the sources. Package stream reads all of them in a single run.
func (x *indexer) read(ctx context.Context, o Options, sources []stream.Source) error {
	sources, err := x.origins(sources)
	if err != nil || len(sources) == 0 {
		return err
	}
	defer x.leave()

	run := stream.VerifyFiles(ctx, x.verifier, sources, stream.Options{Partial: o.Partial})
	for rep := range run.Reports() {
		if err := x.enter(rep.Source); err != nil {
			return err
		}
		if err := x.take(rep, run.Text()); err != nil {
			return err
		}
	}

	sum, err := run.Summary()
	for _, n := range sum.Skipped {
		x.skip(n)
	}

	// The summary lists only some of the notices but contains their total number.
	x.index.skippedCount += sum.SkippedCount - len(sum.Skipped)

	var incomplete *stream.IncompleteError
	if errors.As(err, &incomplete) {
		first := incomplete.Notices[0]
		if first.Kind.Kind != kind.Unknown { // allows the caller to suggest an alternative
			return fmt.Errorf("%q: %w", first.Source, &stream.OtherKindError{Found: first.Kind})
		}
		return fmt.Errorf("%q: %s", first.Source, first.Detail)
	}

	return err
}

// origins examines the beginning of each source, and omits empty sources. Each returned source ends
// where it ended when it was examined. Reading the source twice therefore has the same result.
func (x *indexer) origins(sources []stream.Source) (kept []stream.Source, err error) {
	names := map[string]bool{}
	for _, s := range sources {
		if names[s.Name] {
			return nil, fmt.Errorf("%q: listed twice", s.Name)
		}
		names[s.Name] = true
		s.Found = true // files other than receipts are often stored next to receipts
		o, file, err := openOrigin(s)
		if errors.Is(err, errEmpty) {
			x.skip(stream.Notice{Source: s.Name, Detail: "empty"})
			continue
		}

		if err != nil {
			return nil, fmt.Errorf("%q: %w", s.Name, err)
		}
		s.Open = openTo(s.Open, sizeOf(file))
		file.Close()
		x.index.sources, kept = append(x.index.sources, o), append(kept, s)
	}

	return kept, nil
}

// enter makes the source of a report the current source. Reports are in the order of their sources.
func (x *indexer) enter(name string) error {
	if x.current >= 0 && x.index.sources[x.current].Name == name {
		return nil
	}
	x.leave()

	for x.current++; x.index.sources[x.current].Name != name; x.current++ { // the sources in between contained no receipts
	}
	o := &x.index.sources[x.current]
	if x.packed = 0; o.form == formPacked {
		return nil
	}

	// The file is opened again to locate the receipts that package stream has extracted.
	file, err := o.open()
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	x.file, x.locator = file, &locator{r: file}
	return nil
}

// leave closes the current file.
func (x *indexer) leave() {
	if x.file != nil {
		x.file.Close()
	}
	x.file, x.locator = nil, nil
}

// take indexes a document, or skips it.
func (x *indexer) take(rep *receipt.Report, text []byte) error {
	stored, id := x.identify(rep, text)
	if id == "" {
		x.skip(stream.Notice{Source: rep.Address(), Detail: string(cmp.Or(rep.Finding().Code, receipt.CodeNotAReceipt))})
		return nil
	}
	if x.index.entries.len == maxEntries {
		return fmt.Errorf("%q: more than %d receipts", rep.Address(), maxEntries)
	}

	// Damaged text has no stream and no hash, but it can still be found by its ID.
	e := entry{source: x.current, stream: noStream, link: x.link(rep), index: int32(rep.Index), listed: rep.Listed,
		intact: rep.Check(receipt.StepHash).Status == receipt.StatusPassed}
	if !x.doc.Root().IsZero() {
		e.hash, _ = chain.Hash(x.doc) // no error is possible, because a document with a receipt_id is an object
		e.stream = x.stream(chain.StreamOf(x.doc))
	}

	if err := x.settle(&e, rep, stored); err != nil {
		return err
	}

	// The number is the position of the document in the input. It determines the order in trees and
	// on pages.
	number := int32(x.index.entries.len)
	x.index.entries.add(e)
	x.ids.add(place{fingerprintOf(id), number})
	for _, task := range serve.Tasks(x.doc.Root()) {
		x.tasks.add(place{fingerprintOf(task), number})
	}

	return nil
}

// stream returns the number of a stream.
func (x *indexer) stream(s chain.Stream) int32 {
	number, known := x.streams[s]
	if !known {
		number = int32(len(x.index.streams))
		x.streams[s], x.index.streams = number, append(x.index.streams, s)
	}
	return number
}

// link returns the index of the result for the link of a receipt. Most receipts have the same
// result.
func (x *indexer) link(rep *receipt.Report) int32 {
	first := x.doc.Root().Member("chain").Member("previous_receipt_hash").Kind() == canon.KindNull
	link := linkOf(rep, first && rep.Check(receipt.StepHash).Status == receipt.StatusPassed)
	number, known := x.links[*link]
	if !known {
		number = int32(len(x.index.links))
		x.links[*link], x.index.links = number, append(x.index.links, link)
	}
	return number
}

// identify returns the bytes of a receipt, without surrounding whitespace, and its receipt_id. If
// the document is to be skipped, the receipt_id is "". It leaves the document in x.doc, which is
// empty if the bytes cannot be parsed.
func (x *indexer) identify(rep *receipt.Report, text []byte) (stored []byte, id string) {
	*x.doc = canon.Document{}
	if rep.Finding().Code == receipt.CodeTornTail || len(text) == 0 || isCBOR(text) { // CBOR that is not an archive has not been converted
		return nil, ""
	}

	// Text that cannot be parsed is also indexed, because verification reports why it cannot be
	// parsed.
	if err := x.doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}); err != nil {
		*x.doc = canon.Document{}
		return bytes.TrimSpace(text), serve.DamagedID(text)
	}
	return x.doc.Root().Raw(), x.doc.Root().Member("receipt_id").String()
}

// settle sets the digest, length, and location of the bytes of an entry.
func (x *indexer) settle(e *entry, rep *receipt.Report, stored []byte) (err error) {
	origin := &x.index.sources[x.current]
	switch origin.form {
	case formPacked:
		if x.packed += len(stored); x.packed > maxPacked {
			return fmt.Errorf("%q: a compressed file with more than %d bytes of receipts; decompress it to serve it", origin.Name, maxPacked)
		}
	case formCBOR:
		// A document has only one deterministic encoding as a CBOR item.
		if x.bytes, err = x.index.codec.Append(x.bytes[:0], x.doc); err != nil {
			return fmt.Errorf("%q: %w", rep.Address(), err)
		}
		stored = x.bytes
	}

	// Bytes that are read later must have the same digest.
	e.digest, e.length = canon.Sum(stored), int32(len(stored))
	if x.locator == nil {
		return nil
	}
	if e.offset, err = x.locator.find(stored); err != nil {
		return fmt.Errorf("%q: %w", rep.Address(), err)
	}

	return nil
}

func (x *indexer) skip(n stream.Notice) {
	f := x.index
	if f.skippedCount++; len(f.skipped) < stream.MaxNotices {
		n.Source = strings.Clone(n.Source)
		f.skipped = append(f.skipped, n)
	}
}

// finish sorts the index, and resolves copies and conflicts.
func (x *indexer) finish() (*Index, error) {
	f := x.index
	f.ids = x.ids.flat()
	slices.SortFunc(f.ids, byKey)
	if err := x.compact(); err != nil {
		return nil, err
	}

	f.tasks = slices.DeleteFunc(x.tasks.flat(), func(p place) bool { return f.entries.at(p.entry).copy })
	slices.SortFunc(f.tasks, byKey)
	return f, nil
}

// compact keeps only one place for each receipt_id: the place of the first entry. If there are
// several conflicts, it returns an error for the first one.
func (x *indexer) compact() error {
	f := x.index
	kept := f.ids[:0]
	var first, second *entry
	at := int32(maxEntries)

	// Places are sorted by key and then by entry, so the first place with a key is also the first
	// in the input.
	for _, p := range f.ids {
		if len(kept) == 0 || kept[len(kept)-1].key != p.key {
			kept = append(kept, p)
			continue
		}
		a, b := f.entries.at(kept[len(kept)-1].entry), f.entries.at(p.entry)
		if b.copy = sameReceipt(a, b); !b.copy && p.entry < at {
			first, second, at = a, b, p.entry
		}
	}

	f.ids = kept
	if first != nil {
		return x.conflict(first, second)
	}

	return nil
}

// conflict reads the ID that two entries have in common, because the index contains only a digest
// of the ID.
func (x *indexer) conflict(a, b *entry) error {
	e := &ConflictError{First: x.index.address(a), Second: x.index.address(b)}
	stored, err := x.index.readEntry(a)
	if err != nil {
		return err
	}

	if x.doc.Parse(stored, canon.Limits{}) == nil {
		e.ReceiptID = x.doc.Root().Member("receipt_id").String()
	} else {
		e.ReceiptID = serve.DamagedID(stored)
	}
	return e
}
