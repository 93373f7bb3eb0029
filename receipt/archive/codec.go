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

// MediaType is the media type of one item.
const MediaType = "application/vnd.harn.receipt+cbor; schema=receipt-2026-04-25"

// MaxItemBytes is the maximum length of one item, slightly more than 36 MiB. Every item is at most
// this long if its canonical JSON is at most receipt.MaxBytes long. The worst case is an element
// such as 0.1, which takes nine bytes instead of the four of "0.1,". Only the head of an array or a
// map with 65,536 elements or more has a worse ratio: five bytes instead of two brackets or commas.
// At most 128 such heads fit, and the additional bytes are for them.
const MaxItemBytes = receipt.MaxBytes/4*9 + 1024

// A Codec defines how CBOR is written and checked. It is immutable and safe for concurrent use. A
// program needs only one Codec.
type Codec struct {
	encoding cbor.UserBufferEncMode
	decoding cbor.DecMode
	pool     sync.Pool // of *work
}

// work is the memory for one call, which is kept for the next call.
type work struct {
	text []byte // an item as JSON
	doc  canon.Document
	enc  encoder
}

// NewCodec returns a Codec.
func NewCodec() *Codec {
	encoding, err := encodingOptions().UserBufferEncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	decoding, err := decodingOptions().DecMode()
	if err != nil {
		panic(err)
	}
	return &Codec{encoding: encoding, decoding: decoding}
}

func encodingOptions() cbor.EncOptions {
	o := cbor.CoreDetEncOptions() // RFC 8949 section 4.2.1
	o.TagsMd = cbor.TagsForbidden
	return o
}

// decodingOptions returns options that are as strict as the library allows. The limit on elements
// is not lower than the number that an item can have.
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

// Append appends the encoding of d to dst. The error is an *[ItemError]. Its code is
// number_precision, depth_limit, or size_limit for a value that no receipt can contain, and
// empty_input if d has no value. On error, Append returns dst.
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

// archivable checks conditions that the document parser does not check.
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

	// A source is measured value by value only if it is long and not canonical.
	if n := len(d.Source()); n <= receipt.MaxBytes/4 || n <= receipt.MaxBytes && d.IsCanonical() { // 1e15 is the worst case: 16 digits
		return nil
	}
	if size := canonicalSize(d.Root(), new([]byte)); size > receipt.MaxBytes {
		return refuse(nil, 0, codeSizeLimit, "expected at most %d bytes of canonical JSON, found %d", receipt.MaxBytes, size)
	}

	return nil
}

// canonicalSize returns the length of the canonical form of a value. It writes one scalar at a time
// to scratch.
func canonicalSize(n canon.Node, scratch *[]byte) int {
	size := 0
	switch n.Kind() {
	case canon.KindArray:
		for _, element := range n.Elements() {
			size += 1 + canonicalSize(element, scratch) // plus a comma, or the closing bracket
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

// ToJSON returns the canonical JSON (RFC 8785) of item, which must be exactly one item. The error
// is an *[ItemError].
func (c *Codec) ToJSON(item []byte) ([]byte, error) { return c.AppendJSON(nil, item) }

// AppendJSON appends the result of ToJSON to dst. On error, it appends nothing.
func (c *Codec) AppendJSON(dst, item []byte) ([]byte, error) {
	w := c.work()
	defer c.release(w)
	if err := w.decode(c, item); err != nil {
		return dst, err
	}
	return w.doc.AppendCanonical(dst), nil
}

// decode parses the JSON of the item into w.doc.
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

	// This rule is decisive: the value is encoded again, and the encoding must equal the item.
	w.enc.buf.Reset()
	w.enc.buf.Grow(len(item))
	if err := w.encode(c, &w.doc); err != nil {
		return err
	}
	return compare(w.enc.buf.Bytes(), item)
}

// untranslated converts an error about the JSON text to an error about the item. After the
// translator has run, the parser should find no errors.
func untranslated(item []byte, err error) error {
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		return refuse(item, 0, string(syntax.Code), "as JSON: %s", syntax)
	}
	return refuse(item, 0, codeSyntax, "as JSON: %v", err)
}

// compare implements the decisive rule: an item is rejected unless it equals the output of Append.
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

// release keeps the memory for the next call, unless it is very large.
func (c *Codec) release(w *work) {
	const keep = 1 << 20
	if cap(w.text) <= keep && w.enc.buf.Cap() <= keep {
		c.pool.Put(w)
	}
}
