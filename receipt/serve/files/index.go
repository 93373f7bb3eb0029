package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An Index is the [serve.Source] over files. It takes 136 bytes a receipt, 156 when its subject is another task than
// identifiers.task_id names, and 20 more while it is made.
//
// # What is indexed
//
// Whatever package stream reads: JSON, lines, arrays and lists, CBOR and sequences
// of it, receipts in API envelopes. A document is kept when its receipt_id can be
// read, however damaged it is otherwise: whoever asks for it learns by verifying it. A
// last line that breaks off is still being written and is left out. What is left
// out is counted and named.
//
// A compressed file cannot be read from an offset, so that each receipt of it costs
// decompressing it from its beginning: one with more than [MaxPacked] bytes of
// receipts is refused.
//
// # Several of one id
//
// A receipt_id is unique to its issuer, but a request names nothing else. Copies,
// which have the same receipt hash, count once: the first of them is served. Two
// contents under one id are refused at the start (*[ConflictError]), since no
// answer would be the right one.
//
// # Links
//
// How a receipt stands to the others is what package stream finds for the same files in
// the same order, so that the server and receipt verify say the same of each. One file is
// ordered; several join by their links, and are read twice at the start.
//
// # Changes
//
// What is read for a request is compared with the digest in the index. Other bytes
// are never served: the error is [serve.ErrChanged]. Receipts that are added to the end
// of a file change nothing and are not seen either.
type Index struct {
	codec   *archive.Codec
	sources []origin
	streams []chain.Stream
	links   []*receipt.Check
	entries pile[entry] // in the order of the input
	ids     []place     // sorted; one for each receipt_id
	tasks   []place     // sorted; for each task of a receipt

	skipped      []stream.Notice
	skippedCount int
}

// MaxPacked is how many bytes of receipts a compressed file may hold to be served.
const MaxPacked = 16 << 20

// Options say what the files are.
type Options struct {
	// Partial says that they are a selection of their streams: that a predecessor is
	// absent is then not checked, instead of a break.
	Partial bool
}

// Open reads sources and indexes their receipts. Each must open files: what
// Open returns has to be an [io.ReaderAt] unless it is compressed. They are opened
// again for requests, by their own Open and nothing else. What is written to a file
// while it is being read is not seen, if it has a method Stat as *os.File does.
//
// The error names the source: one that cannot be read to its end, a compressed one
// that is too large, one of the name of another, a *[ConflictError], or that of ctx.
func Open(ctx context.Context, o Options, sources ...stream.Source) (*Index, error) {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		return nil, err
	}
	x := newIndexer(v)
	if err := x.read(ctx, o, sources); err != nil {
		return nil, err
	}
	return x.finish()
}

// Len returns how many receipts are served.
func (x *Index) Len() int { return len(x.ids) }

// Skipped returns what was left out, at most [stream.MaxNotices] of it, and how
// much that was.
func (x *Index) Skipped() (notices []stream.Notice, count int) { return x.skipped, x.skippedCount }

// Get returns the receipt of a receipt_id.
func (x *Index) Get(ctx context.Context, receiptID string, reach protocol.Reach) (serve.Stored, error) {
	i, found := x.find(fingerprintOf(receiptID))
	if !found || !x.within(i, reach) {
		return serve.Stored{}, serve.ErrNotFound
	}
	return x.read(ctx, i)
}

// within reports whether an entry is within reach.
func (x *Index) within(number int32, reach protocol.Reach) bool {
	stream := x.entries.at(number).stream
	return reach.All() || stream != noStream && reach.Sees(x.streams[stream])
}

// maxPageBytes bounds the receipts of a page, but for its first.
const maxPageBytes = 8 << 20

// ByTask returns receipts of a task in the order of the files. Their bytes are at
// most 8 MiB, or one receipt, whatever the limit.
func (x *Index) ByTask(ctx context.Context, q serve.TaskQuery) (page []serve.Stored, more bool, err error) {
	list, err := x.behind(x.list(fingerprintOf(q.Task)), q)
	if err != nil {
		return nil, false, err
	}

	// A page has at least one receipt, however large that is.
	bytes := 0
	for _, p := range list {
		if !x.within(p.entry, q.Reach) {
			continue
		}
		if len(page) > 0 && (len(page) >= q.Limit || bytes+int(x.entries.at(p.entry).length) > maxPageBytes) {
			return page, true, nil
		}
		stored, err := x.read(ctx, p.entry)
		if err != nil {
			return nil, false, err
		}
		bytes += len(stored.JSON)
		page = append(page, stored)
	}

	return page, false, nil
}

// behind returns the part of a list after the receipt that a query names.
func (x *Index) behind(list []place, q serve.TaskQuery) ([]place, error) {
	if q.After.IsZero() {
		return list, nil
	}
	i := slices.IndexFunc(list, func(p place) bool { return x.entries.at(p.entry).hash == q.After && x.within(p.entry, q.Reach) })
	if i < 0 {
		return nil, serve.ErrCursor
	}
	return list[i+1:], nil
}

// address names an entry as reports do.
func (x *Index) address(e *entry) string {
	r := receipt.Report{Source: x.sources[e.source].Name, Index: int(e.index), Listed: e.listed}
	return r.Address()
}

// read returns the receipt of an entry.
func (x *Index) read(ctx context.Context, number int32) (serve.Stored, error) {
	if err := ctx.Err(); err != nil {
		return serve.Stored{}, err
	}

	// A file that is gone is a change; any other error may pass.
	e := x.entries.at(number)
	text, err := x.readEntry(e)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w: %q is gone", serve.ErrChanged, x.address(e))
	case err != nil && !errors.Is(err, serve.ErrChanged):
		err = fmt.Errorf("serve: %q: %w", x.address(e), err)
	}

	if err != nil {
		return serve.Stored{}, err
	}
	return serve.Stored{JSON: text, Link: x.links[e.link]}, nil
}

// readEntry reads an entry's bytes and compares them with what they were.
func (x *Index) readEntry(e *entry) ([]byte, error) {
	text, err := x.sources[e.source].read(e, x.codec)
	if err == serve.ErrChanged { // of these bytes, and not of what else a source says
		err = fmt.Errorf("%w: %q", err, x.address(e))
	}
	return text, err
}

// find returns the entry of a receipt_id.
func (x *Index) find(id fingerprint) (int32, bool) {
	i, found := slices.BinarySearchFunc(x.ids, id, func(p place, key fingerprint) int { return bytes.Compare(p.key[:], key[:]) })
	if !found {
		return 0, false
	}
	return x.ids[i].entry, true
}

// list returns the entries of a task, in the order of the input.
func (x *Index) list(task fingerprint) []place {
	begin, _ := slices.BinarySearchFunc(x.tasks, place{task, 0}, byKey)
	end, _ := slices.BinarySearchFunc(x.tasks, place{task, maxEntries}, byKey)
	return x.tasks[begin:end]
}
