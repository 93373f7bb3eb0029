package stream

import (
	"context"
	"math"
	"runtime"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// Options specify how an input is read, and how its streams must begin and end. The zero Options
// describe one complete, ordered input.
type Options struct {
	// Jobs is the number of receipts that are verified concurrently. It does not affect results.
	// The default is 0, which means GOMAXPROCS.
	Jobs int

	// Long allows zstd windows of up to [unpack.MaxLongWindow] instead of 8 MiB.
	Long bool

	// Partial states that the input is a selection from its streams. An absent predecessor
	// is then not checked, instead of being reported as a break.
	Partial bool

	// Continuity specifies how the streams of the input must begin and end.
	Continuity Continuity

	// TempDir is the directory for records that do not fit into memory. If it is empty, all records
	// stay in memory.
	TempDir string

	// Checkpoint is a signed checkpoint (C2SP tlog-checkpoint) that covers the receipts of
	// the input in their order. It is opened with the verifier's keys. The input is then
	// read twice: first to compute the root, and then to verify.
	Checkpoint []byte

	// Unwrap opens documents that contain a receipt in a signed envelope; see package attest. The
	// receipt inside is verified instead of the document, wrong reports a fault in the envelope,
	// and weigh adds to the receipt's report. If Unwrap is nil, such documents contain no receipts.
	Unwrap func(*canon.Document) (inside []byte, wrong *receipt.Check, weigh func(*receipt.Verifier, *canon.Document, *receipt.Report))

	// Summing specifies what the summary records.
	Summing Summing

	// Bounds are limits for untrusted inputs.
	Bounds Bounds

	// Extract, if not nil, appends to kept the data that the caller needs from a document, so that
	// the document need not be parsed again. The report contains this data as Extracted, and reuses
	// its memory like that of its other fields. Extract is called for every document that could be
	// parsed, whether or not it is a receipt, when its report is complete except for the link. It
	// is called by several goroutines concurrently. The document is valid until Extract returns.
	Extract func(doc *canon.Document, rep *receipt.Report, kept []byte) []byte

	// Several states that the items passed to [VerifySeq] are from several sources.
	Several bool

	// Unordered states that the receipts of an input may be in any order. They are then
	// joined by their links alone, and even a single source is read twice.
	Unordered bool
}

// Summing specifies what a summary records.
type Summing struct {
	// Subjects are the required subjects of signed envelopes, as sha256:HEX or gitCommit:HEX.
	// Unwrap checks them; the summary records them, and cannot be merged with a summary that
	// required other subjects.
	Subjects []string

	// Evidence returns a name for a piece of the verifier's evidence, such as its file name, for
	// human readers. If it is nil, the name consists of the kind and the index.
	Evidence func(receipt.Piece) string

	// Mergeable makes the summary list all of its receipts, so that a merge produces the same
	// result as reading all receipts together. This requires about 55 bytes of memory per receipt,
	// and 75 bytes of JSON. If it is false, the limit is 65,536 receipts.
	Mergeable bool
}

// Continuity specifies how the streams of an input must begin and end. Zero fields require nothing.
type Continuity struct {
	// After maps streams to their earlier heads: the first receipt of such a stream must follow its
	// head. Streams that are not in After may begin anywhere.
	After map[chain.Stream]chain.Head

	// Follows states that After is the single receipt before the input, instead of the heads of an
	// earlier run. An input that contains only one other stream then does not follow it.
	Follows bool

	// Expect maps streams to heads that must be in the input. A stream that has since been rolled
	// back, truncated, or forked does not contain its head.
	Expect map[chain.Stream]chain.Head

	// The other fields apply to an input with one stream: the hash that its first receipt must
	// name, the hash of its last receipt, and the number of its receipts. If any of them is set, a
	// second stream is an error.
	Previous, Head canon.Digest
	Count          *uint64
}

// one reports whether the input must have only one stream.
func (c *Continuity) one() bool { return !c.Previous.IsZero() || !c.Head.IsZero() || c.Count != nil }

func (o *Options) mostIndexed() int {
	if o.Bounds.indexed > 0 {
		return o.Bounds.indexed
	}
	if o.Bounds.Indexed > 0 {
		return o.Bounds.Indexed
	}
	return survey.MaxIndexed
}

func (o *Options) mostRostered() int {
	most := survey.MaxRoster
	switch {
	case o.Summing.Mergeable:
		most = math.MaxInt
	case o.Bounds.rostered > 0:
		most = o.Bounds.rostered
	}
	if o.Bounds.Indexed > 0 {
		return min(most, o.Bounds.Indexed)
	}
	return most
}

func (o *Options) jobs() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

func (o *Options) demands() demands {
	c := o.Continuity
	return demands{Wanted: survey.Wanted{After: c.After, Expect: c.Expect, One: c.one(), First: c.Previous, Last: c.Head}, given: c}
}

func (o *Options) terms() survey.Terms {
	d := o.demands()
	return survey.Terms{Wanted: d.Wanted, Partial: o.Partial, Unordered: o.Unordered, TempDir: o.TempDir, Indexed: o.mostIndexed(), Bounded: o.Bounds.allows}
}

func (o *Options) compression() unpack.Options {
	return unpack.Options{Long: o.Long, Ratio: o.Bounds.Ratio}
}

// Bounds are limits for untrusted inputs, which prevent one client from using more memory or time
// than others. Zero fields set no limits.
type Bounds struct {
	// Ratio is the maximum number of decompressed bytes per compressed byte, after the first MiB.
	// Hashes and signatures do not compress, so the ratio of receipts is at most a hundred. A
	// higher ratio ends the reading of the input.
	Ratio int

	// Streams is the maximum number of streams, whose names may have an average length of up to 1
	// KiB. An additional stream ends the reading with [ErrManyStreams].
	Streams int

	// Indexed is the number of receipts that are compared by their IDs; 0 means 262,144.
	Indexed int

	// Turn is called with the Weight of a document of more than 256 KiB before the document is
	// verified. It may wait. The function that it returns is called when the memory is free again.
	// An error from Turn ends the reading of the input. It must be safe for concurrent use.
	Turn func(ctx context.Context, size int64) (done func(), err error)

	indexed, rostered int // for tests: replace survey.MaxIndexed and survey.MaxRoster
}

// largeDocument is the maximum size in bytes of a document that needs no turn.
const largeDocument = 256 << 10

// ErrManyStreams indicates that an input has more streams than [Bounds] allows.
var ErrManyStreams = survey.ErrManyStreams

// nameBytes is the maximum average size of a stream's name in bytes.
const nameBytes = 1 << 10

// allows reports whether an input may have this many streams, with this many bytes of
// names.
func (b *Bounds) allows(streams, names int) bool {
	return b.Streams <= 0 || streams <= b.Streams && names <= b.Streams*nameBytes
}

// Weight returns the maximum number of bytes of memory that verifying a document requires, not
// including the document itself: its copies, and the index that parsing creates. CBOR is converted
// to JSON first. Each byte of CBOR may be a value, which is indexed once in the conversion and once
// in the receipt. Weight is 0 for a document of up to 256 KiB, which needs no turn.
func Weight(data []byte, kind Kind) int64 {
	if len(data) <= largeDocument {
		return 0
	}
	if kind == CBOR || kind == Sequence {
		return 50 * int64(min(len(data), receipt.MaxBytes/2))
	}
	return 2*int64(len(data)) + canon.Size(data)
}
