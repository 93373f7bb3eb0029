package stream

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

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
}

// largeDocument is how many bytes a document has that is judged in a turn of its own.
const largeDocument = 256 << 10

// ErrManyStreams is returned for an input of more streams than [Bounds] allow.
var ErrManyStreams = errors.New("stream: the input holds more streams, or longer names of them, than are allowed here")

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
