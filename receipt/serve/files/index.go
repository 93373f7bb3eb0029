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
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An Index is a [serve.Source] that reads files. It uses 136 bytes per receipt, or 156 if the
// receipt's subject is a task other than identifiers.task_id, and 20 more while it is being
// created.
//
// # What is indexed
//
// An index contains everything that package stream reads: JSON, lines, arrays and lists, CBOR and
// CBOR sequences, and receipts in API envelopes. A document is kept if its receipt_id can be read,
// even if it is otherwise damaged, because verification reports the damage. A truncated last line
// is treated as still being written, and is skipped. Skipped documents are counted and listed.
//
// A compressed file cannot be read from an offset, so reading a receipt decompresses the file from
// its beginning. A compressed file with more than 16 MiB of receipts is refused.
//
// # Duplicate IDs
//
// A receipt_id is unique only for its issuer, but a request names no issuer. Copies, which have the
// same receipt hash, count once, and the first copy is served. Two contents with one ID are refused
// at startup (*[ConflictError]), because no response would be correct.
//
// # Links
//
// The link of a receipt is judged as package stream judges it for the same files in the same order,
// so the server and receipt verify report the same result. A single file is ordered; several files
// are joined by their links, and are read twice at startup.
//
// # Changes
//
// Bytes that are read for a request are compared with the digest in the index. Bytes that differ
// are never served; the error is [serve.ErrChanged]. Receipts that are appended to a file later
// have no effect, and are not served.
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

// maxPacked is the maximum number of bytes of receipts that a served compressed file may contain.
const maxPacked = 16 << 20

// Options describe the files.
type Options struct {
	// Partial indicates that the files are a selection from their streams. An absent predecessor is
	// then reported as not checked, instead of as a break.
	Partial bool
}

// Open reads sources and indexes their receipts. Each source must open a file: the result of its
// Open must be an [io.ReaderAt] unless it is compressed. Files are opened again for requests, only
// by their own Open. Data that is appended to a file while it is being read is ignored if the file
// has a Stat method like that of *os.File.
//
// The error names the source if the source cannot be read to its end, is compressed and too large,
// or has the same name as another source. Otherwise, the error is a *[ConflictError] or the error
// from ctx.
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

// Len returns the number of served receipts.
func (x *Index) Len() int { return len(x.ids) }

// Skipped returns notices about skipped documents, at most [stream.MaxNotices], and the total
// number of such documents.
func (x *Index) Skipped() (notices []stream.Notice, count int) { return x.skipped, x.skippedCount }

// Get returns the receipt with a receipt_id.
func (x *Index) Get(ctx context.Context, receiptID string, reach protocol.Reach) (serve.Stored, error) {
	i, found := x.find(fingerprintOf(receiptID))
	if !found || !x.within(i, reach) {
		return serve.Stored{}, ledger.ErrNotFound
	}
	return x.read(ctx, i)
}

// within reports whether an entry is within reach.
func (x *Index) within(number int32, reach protocol.Reach) bool {
	stream := x.entries.at(number).stream
	return reach.All() || stream != noStream && reach.Sees(x.streams[stream])
}

// maxPageBytes is the maximum length of the receipts on a page, not counting the first receipt.
const maxPageBytes = 8 << 20

// ByTask returns a task's receipts in the order of the files: at most 8 MiB, or one receipt
// regardless of its size.
func (x *Index) ByTask(ctx context.Context, q serve.TaskQuery) (page []serve.Stored, more bool, err error) {
	list, err := x.behind(x.list(fingerprintOf(q.Task)), q)
	if err != nil {
		return nil, false, err
	}

	// A page has at least one receipt, regardless of its length.
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

// behind returns the part of a list that follows the receipt that a query names.
func (x *Index) behind(list []place, q serve.TaskQuery) ([]place, error) {
	if q.After.IsZero() {
		return list, nil
	}
	i := slices.IndexFunc(list, func(p place) bool { return x.entries.at(p.entry).hash == q.After && x.within(p.entry, q.Reach) })
	if i < 0 {
		return nil, ledger.ErrCursor
	}
	return list[i+1:], nil
}

// address returns an entry's address, as used in reports.
func (x *Index) address(e *entry) string {
	r := receipt.Report{Source: x.sources[e.source].Name, Index: int(e.index), Listed: e.listed}
	return r.Address()
}

// read returns an entry's receipt.
func (x *Index) read(ctx context.Context, number int32) (serve.Stored, error) {
	if err := ctx.Err(); err != nil {
		return serve.Stored{}, err
	}

	// A missing file counts as changed; any other error may be temporary.
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

// readEntry reads an entry's bytes and compares them with the indexed digest.
func (x *Index) readEntry(e *entry) ([]byte, error) {
	text, err := x.sources[e.source].read(e, x.codec)
	if err == serve.ErrChanged { // of these bytes, not of anything else that a source states
		err = fmt.Errorf("%w: %q", err, x.address(e))
	}
	return text, err
}

// find returns the entry with a receipt_id.
func (x *Index) find(id fingerprint) (int32, bool) {
	i, found := slices.BinarySearchFunc(x.ids, id, func(p place, key fingerprint) int { return bytes.Compare(p.key[:], key[:]) })
	if !found {
		return 0, false
	}
	return x.ids[i].entry, true
}

// list returns a task's entries, in input order.
func (x *Index) list(task fingerprint) []place {
	begin, _ := slices.BinarySearchFunc(x.tasks, place{task, 0}, byKey)
	end, _ := slices.BinarySearchFunc(x.tasks, place{task, maxEntries}, byKey)
	return x.tasks[begin:end]
}
