package serve

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Files is a Source over files, which are read at the start and indexed: where each
// receipt lies, by receipt_id and by task, the digest of its bytes, and whether it
// follows the receipt before it.
// The receipts themselves stay in the files and are read when they are asked for.
// The index takes 136 bytes a receipt, 156 when its subject is another task than
// identifiers.task_id names.
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
// the same order, so that [Server] and receipt verify say the same of each. One file is
// ordered; several join by their links, and are read twice at the start.
//
// # Changes
//
// What is read for a request is compared with the digest in the index. Other bytes
// are never served: the error is [ErrChanged]. Receipts that are added to the end
// of a file change nothing and are not seen either.
type Files struct {
	codec   *archive.Codec
	sources []origin
	streams []chain.Stream
	links   []*receipt.Check
	entries []entry // in the order of the input
	ids     []place // sorted; one for each receipt_id
	tasks   []place // sorted; for each task of a receipt

	skipped      []stream.Notice
	skippedCount int
}

// MaxPacked is how many bytes of receipts a compressed file may hold to be served.
const MaxPacked = 16 << 20

// An entry is where a document lies and what it has to be.
type entry struct {
	digest canon.Digest // of its bytes; of a compressed file, of its JSON
	hash   canon.Digest // the receipt hash of its content; zero when it has none
	offset int64        // of its bytes; not used in a compressed file
	length int32
	source int32
	stream int32 // noStream for a text that is not JSON
	link   int32 // its place among the others, in links
	index  int32 // line, item or element
	listed bool  // the source holds more than this one
	intact bool  // the content fits the hash that it states
	copy   bool  // of an entry before it
}

// noStream is the stream of what states none.
const noStream = -1

// A place is the number of an entry under what it is looked up by.
type place struct {
	key   fingerprint
	entry int32
}

// A fingerprint is the first half of a SHA-256. Nobody can make two texts with the
// same.
type fingerprint [16]byte

func fingerprintOf(text string) fingerprint {
	sum := sha256.Sum256([]byte(text))
	return fingerprint(sum[:16])
}

// A ConflictError says that two different receipts have one receipt_id.
type ConflictError struct {
	ReceiptID     string // untrusted text
	First, Second string // where they are, as reports name it
}

// Error names the id and both places.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("serve: the receipt_id %.80q is that of two different receipts, %q and %q; an id can name only one", e.ReceiptID, e.First, e.Second)
}

// FilesOptions say what the files are.
type FilesOptions struct {
	// Partial says that they are a selection of their streams: that a predecessor is
	// absent is then not checked, instead of a break.
	Partial bool
}

// OpenFiles reads sources and indexes their receipts. Each must open files: what
// Open returns has to be an [io.ReaderAt] unless it is compressed. They are opened
// again for requests, by their own Open and nothing else. What is written to a file
// while it is being read is not seen, if it has a method Stat as *os.File does.
//
// The error names the source: one that cannot be read to its end, a compressed one
// that is too large, one of the name of another, a *[ConflictError], or that of ctx.
func OpenFiles(ctx context.Context, o FilesOptions, sources ...stream.Source) (*Files, error) {
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
func (f *Files) Len() int { return len(f.ids) }

// Skipped returns what was left out, at most [stream.MaxNotices] of it, and how
// much that was.
func (f *Files) Skipped() (notices []stream.Notice, count int) { return f.skipped, f.skippedCount }

// Get returns the receipt of a receipt_id.
func (f *Files) Get(ctx context.Context, receiptID string, reach *Reach) (Stored, error) {
	i, found := f.find(fingerprintOf(receiptID))
	if !found || !f.within(i, reach) {
		return Stored{}, ErrNotFound
	}
	return f.read(ctx, i)
}

// within reports whether an entry is within reach.
func (f *Files) within(number int32, reach *Reach) bool {
	stream := f.entries[number].stream
	return reach.All() || stream != noStream && reach.Sees(f.streams[stream])
}

// maxPageBytes bounds the receipts of a page, but for its first.
const maxPageBytes = 8 << 20

// ByTask returns receipts of a task in the order of the files. Their bytes are at
// most 8 MiB, or one receipt, whatever the limit.
func (f *Files) ByTask(ctx context.Context, q TaskQuery) (page []Stored, more bool, err error) {
	list, err := f.behind(f.list(fingerprintOf(q.Task)), q)
	if err != nil {
		return nil, false, err
	}

	// A page has at least one receipt, however large that is.
	bytes := 0
	for _, p := range list {
		if !f.within(p.entry, q.Reach) {
			continue
		}
		if len(page) > 0 && (len(page) >= q.Limit || bytes+int(f.entries[p.entry].length) > maxPageBytes) {
			return page, true, nil
		}
		stored, err := f.read(ctx, p.entry)
		if err != nil {
			return nil, false, err
		}
		bytes += len(stored.JSON)
		page = append(page, stored)
	}

	return page, false, nil
}

// behind returns the part of a list after the receipt that a query names.
func (f *Files) behind(list []place, q TaskQuery) ([]place, error) {
	if q.After.IsZero() {
		return list, nil
	}
	i := slices.IndexFunc(list, func(p place) bool { return f.entries[p.entry].hash == q.After && f.within(p.entry, q.Reach) })
	if i < 0 {
		return nil, ErrCursor
	}
	return list[i+1:], nil
}

// maxEntries is how many documents an index can number.
const maxEntries = math.MaxInt32

// address names an entry as reports do.
func (f *Files) address(e *entry) string {
	r := receipt.Report{Source: f.sources[e.source].Name, Index: int(e.index), Listed: e.listed}
	return r.Address()
}
