package archive

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// MediaType is the media type of an item.
const MediaType = "application/vnd.harn.receipt+cbor; schema=receipt-2026-04-25"

// MaxItemBytes is the maximum length of an item, which is slightly more than 36 MiB. An item is
// never longer if its canonical JSON is no longer than receipt.MaxBytes. The worst case is an
// element such as 0.1, which takes nine bytes in CBOR but four bytes as "0.1,". The ratio is worse
// only for the head of an array or map with at least 65,536 elements, which takes five bytes in
// CBOR and two in JSON. An item can contain at most 128 such heads, and the additional 1,024 bytes
// are for them.
const MaxItemBytes = receipt.MaxBytes/4*9 + 1024

// A Codec encodes and decodes items. It is immutable and safe for concurrent use. A program needs
// only one.
type Codec struct {
	encoding cbor.UserBufferEncMode
	decoding cbor.DecMode
	pool     sync.Pool // of *work
}

// work contains the memory for one call. The next call reuses this memory.
type work struct {
	text []byte // item as JSON
	doc  canon.Document
	enc  encoder
}

// NewCodec returns a Codec.
func NewCodec() *Codec {
	encoding, err := encodingOptions().UserBufferEncMode()
	if err != nil {
		panic(err) // cannot happen, because the options are constants
	}
	decoding, err := decodingOptions().DecMode()
	if err != nil {
		panic(err)
	}
	return &Codec{encoding: encoding, decoding: decoding}
}

func encodingOptions() cbor.EncOptions {
	o := cbor.CoreDetEncOptions() // core deterministic encoding (RFC 8949 section 4.2.1)
	o.TagsMd = cbor.TagsForbidden
	return o
}

// decodingOptions returns the strictest options that the library has. The limit on elements is the
// maximum number of elements that an item can have.
func decodingOptions() cbor.DecOptions {
	return cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		MaxNestedLevels:  receipt.MaxDepth,
		MaxArrayElements: MaxItemBytes,
		MaxMapPairs:      MaxItemBytes,
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		UTF8:             cbor.UTF8RejectInvalid,
		NaN:              cbor.NaNDecodeForbidden,
		Inf:              cbor.InfDecodeForbidden,
		BignumTag:        cbor.BignumTagForbidden,
	}
}

// Append appends the item for d to dst. The error is an *[ItemError]. The code is number_precision,
// depth_limit, or size_limit if d contains a value that no receipt can contain. It is empty_input
// if d has no value. If there is an error, Append returns dst unchanged.
func (c *Codec) Append(dst []byte, d *canon.Document) ([]byte, error) {
	if err := archivable(d); err != nil {
		return dst, err
	}
	w := c.work()
	defer c.release(w)
	if err := w.encode(c, d); err != nil {
		return dst, err
	}
	return append(dst, w.enc.buf.Bytes()...), nil
}

// archivable checks requirements that parsing the document does not check.
func archivable(d *canon.Document) error {
	if d.Root().IsZero() {
		return refuse(nil, 0, codeEmptyInput, "expected a document, found an empty one")
	}
	if n, found := d.LossyInteger(); found {
		return refuse(nil, int64(n.Offset()), codeNumberPrecision, "expected a number within ±(2^53−1), found %s at %q", untrusted.Number(n.Raw()), clip(n.Pointer()))
	}
	if depth := d.Depth(); depth > receipt.MaxDepth {
		return refuse(nil, 0, codeDepthLimit, "expected at most %d nested levels, found %d", receipt.MaxDepth, depth)
	}

	// The canonical length must be computed from the values only if the source is long and not
	// canonical.
	if n := len(d.Source()); n <= receipt.MaxBytes/4 || n <= receipt.MaxBytes && d.IsCanonical() { // worst case is 1e15, with 16 digits
		return nil
	}
	if size := canonicalSize(d.Root(), new([]byte)); size > receipt.MaxBytes {
		return refuse(nil, 0, codeSizeLimit, "expected at most %d bytes of canonical JSON, found %d", receipt.MaxBytes, size)
	}

	return nil
}

// canonicalSize returns the length of the canonical form of a value. It uses scratch to write one
// scalar at a time.
func canonicalSize(n canon.Node, scratch *[]byte) int {
	size := 0
	switch n.Kind() {
	case canon.KindArray:
		for _, element := range n.Elements() {
			size += 1 + canonicalSize(element, scratch) // also includes the comma or the closing bracket
		}
		return 1 + max(size, 1)
	case canon.KindObject:
		for name, value := range n.Members() {
			size += 2 + canonicalSize(name, scratch) + canonicalSize(value, scratch) // and the colon
		}
		return 1 + max(size, 1)
	}

	*scratch = n.AppendCanonical((*scratch)[:0])
	return len(*scratch)
}

// ToJSON returns the canonical JSON (RFC 8785) for item, which must contain exactly one item. The
// error is an *[ItemError].
func (c *Codec) ToJSON(item []byte) ([]byte, error) { return c.AppendJSON(nil, item) }

// AppendJSON appends the canonical JSON for item to dst. If there is an error, it appends nothing.
func (c *Codec) AppendJSON(dst, item []byte) ([]byte, error) {
	w := c.work()
	defer c.release(w)
	if err := w.decode(c, item); err != nil {
		return dst, err
	}
	return w.doc.AppendCanonical(dst), nil
}

// decode parses the JSON for an item into w.doc.
func (w *work) decode(c *Codec, item []byte) error {
	text, refused := translate(slices.Grow(w.text[:0], min(len(item), receipt.MaxBytes)), item)
	if refused != nil {
		return refused
	}
	w.text = text

	if err := c.decoding.Wellformed(item); err != nil { // a second opinion
		return refuse(item, 0, codeSyntax, "expected a well-formed item, found %q", clip(err.Error()))
	}
	if err := w.doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}); err != nil {
		return untranslated(item, err)
	}

	// This check is sufficient: the value is encoded again, and the result must be equal to the
	// item.
	w.enc.buf.Reset()
	w.enc.buf.Grow(len(item))
	if err := w.encode(c, &w.doc); err != nil {
		return err
	}
	return compare(w.enc.buf.Bytes(), item)
}

// untranslated converts an error about the JSON to an error about the item. Such an error should
// not occur, because the translator has already checked the item.
func untranslated(item []byte, err error) error {
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		return refuse(item, 0, string(syntax.Code), "as JSON: %s", syntax)
	}
	return refuse(item, 0, codeSyntax, "as JSON: %v", err)
}

// compare rejects an item that is not equal to the output of Append for its value.
func compare(expected, item []byte) error {
	if bytes.Equal(expected, item) {
		return nil
	}
	at := 0
	for at < len(expected) && at < len(item) && expected[at] == item[at] {
		at++
	}
	return refuse(item, int64(at), codeNonDeterministic, "expected %s of the deterministic encoding, found %s", byteAt(expected, at), byteAt(item, at))
}

func (w *work) encode(c *Codec, d *canon.Document) error {
	w.enc.mode = c.encoding
	w.enc.buf.Reset()
	return w.enc.value(d.Root())
}

func (c *Codec) work() *work {
	if w, ok := c.pool.Get().(*work); ok {
		return w
	}
	return new(work)
}

// release keeps the memory for the next call, unless one of the buffers is larger than 1 MiB.
func (c *Codec) release(w *work) {
	const keep = 1 << 20
	if cap(w.text) <= keep && w.enc.buf.Cap() <= keep {
		c.pool.Put(w)
	}
}
