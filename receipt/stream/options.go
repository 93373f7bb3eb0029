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

// Options specify how an input is read, and how the streams in it must begin and end. The zero
// Options are for an input that is complete and in order.
type Options struct {
	// Jobs is the number of receipts that are verified at the same time. It does not affect the
	// results. The default is 0, which means GOMAXPROCS.
	Jobs int

	// Long allows zstd windows of up to [unpack.MaxLongWindow] instead of 8 MiB.
	Long bool

	// Partial states that the input is only a selection of its streams. A missing predecessor is
	// then reported as not checked instead of as a break.
	Partial bool

	// Continuity specifies how the streams in the input must begin and end.
	Continuity Continuity

	// TempDir is the directory for records that do not fit into memory. If it is "", all records
	// stay in memory.
	TempDir string

	// Checkpoint is a signed checkpoint (C2SP tlog-checkpoint) that covers the receipts in the
	// input, in the same order. It is opened with the keys of the verifier. The input is then read
	// twice: first to compute the root, and then to verify the receipts.
	Checkpoint []byte

	// Unwrap opens documents that contain a receipt in a signed envelope; see package attest.
	// inside is the receipt, which is verified instead of the document; wrong describes a fault in
	// the envelope; and weigh adds checks to the report on the receipt. If Unwrap is nil, such
	// documents are treated as containing no receipt.
	Unwrap func(*canon.Document) (inside []byte, wrong *receipt.Check, weigh func(*receipt.Verifier, *canon.Document, *receipt.Report))

	// Summing specifies what the summary records.
	Summing Summing

	// Bounds are limits on untrusted inputs.
	Bounds Bounds

	// If Extract is not nil, it appends the data that the caller needs from a document to the slice
	// kept, so that the caller does not have to parse the document again. The field Extracted of
	// the report contains the data. Its memory is reused, as is the memory of the other fields.
	// Extract is called for every document that could be parsed, even if it is not a receipt. At
	// that time, the report on the document is complete except for the link. Extract may be called
	// by several goroutines at the same time. The document is valid only until Extract returns.
	Extract func(doc *canon.Document, rep *receipt.Report, kept []byte) []byte

	// Several states that the items passed to [VerifySeq] are from more than one source.
	Several bool

	// Unordered states that the receipts in an input may be in any order. They are then joined only
	// by their links, and even a single source is read twice.
	Unordered bool
}

// Summing specifies what a summary records.
type Summing struct {
	// Subjects lists the subjects that signed envelopes must have, as sha256:HEX or gitCommit:HEX.
	// Unwrap checks the subjects; the summary records them, and cannot be merged with a summary
	// that required other subjects.
	Subjects []string

	// Evidence returns a readable name for a piece of the verifier's evidence, such as its file
	// name. If it is nil, the name consists of the kind and the index of the piece.
	Evidence func(receipt.Piece) string

	// Mergeable makes the summary list all of its receipts, so that merging it has the same result
	// as reading all receipts together. This takes about 55 bytes of memory and 75 bytes of JSON
	// per receipt. Otherwise, receipts are listed only if there are at most 65,536.
	Mergeable bool
}

// Continuity specifies how the streams in an input must begin and end. A field that is zero
// requires nothing.
type Continuity struct {
	// After maps streams to their earlier heads: the first receipt of such a stream must follow
	// that head. Streams that are not in After may begin anywhere.
	After map[chain.Stream]chain.Head

	// Follows states that After contains the one receipt that precedes the input, instead of the
	// heads from an earlier run. If the only stream in the input is not in After, the input does
	// not follow that receipt.
	Follows bool

	// Expect maps streams to heads that the input must contain. A stream that has been rolled back,
	// truncated, or forked since a head was recorded no longer contains that head.
	Expect map[chain.Stream]chain.Head

	// The other fields are for an input with only one stream: the hash that the first receipt must
	// name, the hash of the last receipt, and the number of receipts. If any of them is set, a
	// second stream is an error.
	Previous, Head canon.Digest
	Count          *uint64
}

// one reports whether the input may have only one stream.
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

// Bounds are limits on untrusted inputs, which prevent one client from using more memory or time
// than others. A field that is zero sets no limit.
type Bounds struct {
	// Ratio is the maximum number of decompressed bytes per compressed byte, not counting the first
	// MiB. Hashes and signatures cannot be compressed, so the ratio for receipts is at most a
	// hundred. If the ratio is higher, reading the input ends.
	Ratio int

	// Streams is the maximum number of streams. Their names may have an average length of up to 1
	// KiB. If there is another stream, reading ends with [ErrManyStreams].
	Streams int

	// Indexed is the number of receipts whose IDs are compared with each other; 0 means 262,144.
	Indexed int

	// Turn is called before a document of more than 256 KiB is verified, with the Weight of the
	// document. It may wait. The caller calls done when the memory is free again. If Turn returns
	// an error, reading the input ends. Turn must be safe for concurrent use.
	Turn func(ctx context.Context, size int64) (done func(), err error)

	indexed, rostered int // used in tests instead of survey.MaxIndexed and survey.MaxRoster
}

// largeDocument is the maximum size, in bytes, of a document that needs no turn.
const largeDocument = 256 << 10

// ErrManyStreams indicates that an input has more streams than [Bounds] allows.
var ErrManyStreams = survey.ErrManyStreams

// nameBytes is the maximum average length of stream names, in bytes.
const nameBytes = 1 << 10

// allows reports whether an input may have the given number of streams, whose names have the given
// total length in bytes.
func (b *Bounds) allows(streams, names int) bool {
	return b.Streams <= 0 || streams <= b.Streams && names <= b.Streams*nameBytes
}

// Weight returns the maximum number of bytes of memory that are needed to verify a document, not
// including the document itself. This memory is used for copies and for the index that is created
// when the document is parsed. CBOR is first converted to JSON. Each byte of CBOR may be a value,
// which is indexed once for the conversion and once in the receipt. Weight returns 0 for a document
// of up to 256 KiB, which needs no turn.
func Weight(data []byte, kind Kind) int64 {
	if len(data) <= largeDocument {
		return 0
	}
	if kind == CBOR || kind == Sequence {
		return 50 * int64(min(len(data), receipt.MaxBytes/2))
	}
	return 2*int64(len(data)) + canon.Size(data)
}
