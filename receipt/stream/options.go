package stream

import (
	"context"
	"math"
	"runtime"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
	"github.com/receiptkit/receiptkit/receipt/unpack"
)

// Options say how an input is read and what it has to continue or to end in. The
// zero Options read one whole, ordered input.
type Options struct {
	// Jobs is how many receipts are judged at the same time. It never changes a
	// result. 0: as many as the program may use processors.
	Jobs int

	// Long allows zstd windows up to [unpack.MaxLongWindow] instead of 8 MiB.
	Long bool

	// Partial says that the input is a selection of its streams: that a
	// predecessor is absent is then not checked, instead of a break.
	Partial bool

	// After is where streams ended before: the first receipt of such a stream
	// must follow its head. Streams that are not in it begin anywhere.
	After map[chain.Stream]chain.Head

	// Follows says that After is the one receipt before the input, and not all that
	// an earlier run saw: an input of one other stream then does not follow it.
	Follows bool

	// Expect is what streams must hold: each head must be in the input. A stream
	// that has been rolled back, cut off or forked since does not have it.
	Expect map[chain.Stream]chain.Head

	// Only is for an input of one stream. With it a second stream is an error.
	Only Only

	// TempDir is where records are kept that do not fit into memory. Empty:
	// everything stays in memory.
	TempDir string

	// Checkpoint is a signed checkpoint (C2SP tlog-checkpoint) over the receipts
	// of the input in their order. It is opened with the keys of the verifier. The
	// input is then read twice: once for its root, once to verify.
	Checkpoint []byte

	// Unwrap opens documents that hold a receipt in a signed envelope, as package attest
	// does: see there. The receipt inside stands for the document, what is wrong with the
	// envelope is its report, and what weighs adds to the report of the receipt. Nil: such
	// documents are of a kind that holds no receipts.
	Unwrap func(*canon.Document) (inside []byte, wrong *receipt.Check, weigh func(*receipt.Verifier, *canon.Document, *receipt.Report))

	// Summing says what the summary records beyond what was read.
	Summing Summing

	// Bounds are for inputs of strangers.
	Bounds Bounds

	// Glean, when it is given, appends to kept what the caller wants to know of a
	// document beside its report, so that nobody has to parse it again; the report has
	// it as Gleaned, reused as the rest of it is. It is called for every document that
	// could be parsed, receipt or not, once its report but for the link is made, and by
	// several goroutines at the same time. The document is valid until it returns.
	Glean func(doc *canon.Document, rep *receipt.Report, kept []byte) []byte

	// Unordered says that no input is in the order of its chains: receipts join by their
	// links alone, those of one source, too, which is then read twice.
	Unordered bool
}

// Summing says what a summary records.
type Summing struct {
	// Subjects is what such envelopes were asked to be about, as sha256:HEX or
	// gitCommit:HEX. Unwrap judges that; the summary records it, and does not merge with
	// one that was asked for other subjects.
	Subjects []string

	// Evidence names one of the verifier's evidence for a person, such as by its
	// file. Nil: by its kind and its place in the list.
	Evidence func(receipt.Piece) string

	// Mergeable says that the summary remembers all of its receipts, however many, so that
	// it merges with others as if all had been read together: some 55 bytes of memory for
	// each, and 75 in its JSON. Otherwise it does up to 65,536.
	Mergeable bool
}

// Only is what the one stream of an input must continue and end in. Zero members
// ask for nothing.
type Only struct {
	Previous canon.Digest // its first receipt names it
	Head     canon.Digest // its last receipt has this hash
	Count    *uint64      // it has so many receipts
}

func (o *Only) isZero() bool { return o.Previous.IsZero() && o.Head.IsZero() && o.Count == nil }

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
	return demands{Wanted: survey.Wanted{After: o.After, Expect: o.Expect, One: !o.Only.isZero(), First: o.Only.Previous, Last: o.Only.Head}, follows: o.Follows, only: o.Only}
}

func (o *Options) terms() survey.Terms {
	d := o.demands()
	return survey.Terms{Wanted: d.Wanted, Partial: o.Partial, Unordered: o.Unordered, TempDir: o.TempDir, Indexed: o.mostIndexed(), Bounded: o.Bounds.allows}
}

func (o *Options) compression() unpack.Options {
	return unpack.Options{Long: o.Long, Ratio: o.Bounds.Ratio}
}

// Bounds are for the input of a stranger, who is not to get more memory or time than
// others. Zero members bound nothing.
type Bounds struct {
	// Ratio is how many bytes a compressed input may hold for each of its own, beyond
	// the first MiB. Receipts have hashes and signatures, which no compression makes
	// shorter: they come to a hundred at the most. What goes beyond it ends the input.
	Ratio int

	// Streams is how many streams an input may have, whose names have a KiB each on
	// average. One more ends it with [ErrManyStreams].
	Streams int

	// Indexed is how many receipts are compared by their ids, instead of 262,144.
	Indexed int

	// Turn is asked before a document beyond 256 KiB is judged, with its Weight. It may wait, and returns what is called
	// when they are free again. Its error ends the input. It must be safe for
	// concurrent use.
	Turn func(ctx context.Context, size int64) (done func(), err error)

	indexed, rostered int // instead of survey.MaxIndexed and survey.MaxRoster, for tests
}

// largeDocument is how many bytes a document has that is judged in a turn of its own.
const largeDocument = 256 << 10

// ErrManyStreams is returned for an input of more streams than [Bounds] allow.
var ErrManyStreams = survey.ErrManyStreams

// nameBytes is how many bytes the name of a stream may have on average.
const nameBytes = 1 << 10

// allows reports whether an input may have so many streams with so many bytes of names.
func (b *Bounds) allows(streams, names int) bool {
	return b.Streams <= 0 || streams <= b.Streams && names <= b.Streams*nameBytes
}

// Weight returns how many bytes of memory judging a document takes at most, but for the
// document itself: its copies, and the index of its parse. CBOR is translated to JSON
// first; each of its bytes may be a value, which the index of the translation has and
// that of the receipt again. It is 0 for a document of up to 256 KiB, which needs no
// turn of its own.
func Weight(data []byte, kind Kind) int64 {
	if len(data) <= largeDocument {
		return 0
	}
	if kind == CBOR || kind == Sequence {
		return 50 * int64(min(len(data), receipt.MaxBytes/2))
	}
	return 2*int64(len(data)) + canon.Size(data)
}
