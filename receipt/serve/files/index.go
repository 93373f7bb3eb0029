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

// An Index is a [serve.Source] that reads receipts from files. It uses 136 bytes of memory per
// receipt, or 156 bytes if the subject of the receipt is a task other than identifiers.task_id.
// While the index is created, it uses 20 bytes more per receipt.
//
// # What is indexed
//
// An index can contain receipts from every kind of input that package stream reads: JSON, lines,
// arrays and lists, CBOR and CBOR sequences, and receipts in API envelopes. A document is indexed
// if its receipt_id can be read, even if the document is otherwise damaged, because verification
// reports the damage. A truncated last line is skipped, because it may still be in the process of
// being written. Skipped documents are counted and listed.
//
// A compressed file cannot be read from the middle, so the entire preceding content is decompressed
// to read a receipt. A compressed file that contains more than 16 MiB of receipts is therefore
// refused.
//
// # Duplicate IDs
//
// A receipt_id is unique only for its issuer, but requests do not name an issuer. Copies, which
// have the same receipt hash, count as one receipt, and the first copy is served. If two receipts
// have the same ID but different content, Open returns a *[ConflictError], because no response to a
// request for that ID would be correct.
//
// # Links
//
// The link of a receipt is checked as package stream checks it for the same files in the same
// order, so the server and the command "receipt verify" report the same result. The receipts in a
// single file must be in order. Those in several files are joined by their links; the files are
// therefore read twice at startup.
//
// # Changes
//
// When bytes are read for a request, their digest is compared with the digest in the index. Bytes
// with a different digest are never served; the error is [serve.ErrChanged]. Receipts that are
// appended to a file later are not served.
type Index struct {
	codec   *archive.Codec
	sources []origin
	streams []chain.Stream
	links   []*receipt.Check
	entries pile[entry] // in input order
	ids     []place     // sorted; one for each receipt_id
	tasks   []place     // sorted; one for each task of each receipt

	skipped      []stream.Notice
	skippedCount int
}

// maxPacked is the maximum number of bytes of receipts in a compressed file that is served.
const maxPacked = 16 << 20

// Options describe the files that are indexed.
type Options struct {
	// Partial states that the files are a selection of their streams. A missing predecessor is then
	// reported as not checked instead of as a break.
	Partial bool
}

// Open reads the sources and indexes their receipts. The Open function of each source must return
// an [io.ReaderAt]. To read a receipt for a request, the index calls that Open function again. If
// data is appended to a file while Open reads it, the appended data is ignored, provided that the
// file has a Stat method like that of *os.File.
//
// The error contains the name of a source if that source cannot be read to its end, is compressed
// and too large, or has the same name as another source. Otherwise, the error is a *[ConflictError]
// or the error from ctx.
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

// Len returns the number of receipts that are served.
func (x *Index) Len() int { return len(x.ids) }

// Skipped returns at most [stream.MaxNotices] notices about skipped documents, and the total number
// of skipped documents.
func (x *Index) Skipped() (notices []stream.Notice, count int) { return x.skipped, x.skippedCount }

// Get returns the receipt with the given receipt_id.
func (x *Index) Get(ctx context.Context, receiptID string, reach protocol.Reach) (serve.Stored, error) {
	i, found := x.find(fingerprintOf(receiptID))
	if !found || !x.within(i, reach) {
		return serve.Stored{}, ledger.ErrNotFound
	}
	return x.read(ctx, i)
}

// within reports whether an entry is within the reach of a client.
func (x *Index) within(number int32, reach protocol.Reach) bool {
	stream := x.entries.at(number).stream
	return reach.All() || stream != noStream && reach.Sees(x.streams[stream])
}

// maxPageBytes is the maximum total length of the receipts on a page, not counting the first
// receipt.
const maxPageBytes = 8 << 20

// ByTask returns the receipts of a task in the order of the files. A page contains up to 8 MiB of
// receipts, or a single receipt of any size.
func (x *Index) ByTask(ctx context.Context, q serve.TaskQuery) (page []serve.Stored, more bool, err error) {
	list, err := x.behind(x.list(fingerprintOf(q.Task)), q)
	if err != nil {
		return nil, false, err
	}

	// A page contains at least one receipt, regardless of the receipt's length.
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

// behind returns the part of a list that follows the receipt given in the query.
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

// address returns the address of an entry, in the form used in reports.
func (x *Index) address(e *entry) string {
	r := receipt.Report{Source: x.sources[e.source].Name, Index: int(e.index), Listed: e.listed}
	return r.Address()
}

// read returns the receipt of an entry.
func (x *Index) read(ctx context.Context, number int32) (serve.Stored, error) {
	if err := ctx.Err(); err != nil {
		return serve.Stored{}, err
	}

	// A missing file is treated as changed; any other error may be temporary.
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

// readEntry reads the bytes of an entry and compares their digest with the digest in the index.
func (x *Index) readEntry(e *entry) ([]byte, error) {
	text, err := x.sources[e.source].read(e, x.codec)
	if err == serve.ErrChanged { // reported only if the bytes of this entry have changed
		err = fmt.Errorf("%w: %q", err, x.address(e))
	}
	return text, err
}

// find returns the number of the entry with the given receipt_id.
func (x *Index) find(id fingerprint) (int32, bool) {
	i, found := slices.BinarySearchFunc(x.ids, id, func(p place, key fingerprint) int { return bytes.Compare(p.key[:], key[:]) })
	if !found {
		return 0, false
	}
	return x.ids[i].entry, true
}

// list returns the places of the entries of a task, in input order.
func (x *Index) list(task fingerprint) []place {
	begin, _ := slices.BinarySearchFunc(x.tasks, place{task, 0}, byKey)
	end, _ := slices.BinarySearchFunc(x.tasks, place{task, maxEntries}, byKey)
	return x.tasks[begin:end]
}
