package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
)

// A Document is a JSON object from an input. It has not been verified, so it might not be a
// receipt. It is valid until the next document is returned.
type Document struct {
	*canon.Document
	Source string
	Index  int  // line, item, or element in the source; 1 for a single document
	Listed bool // the source contains more than one document

	// Other describes a document that is not a receipt, such as "a key set", if the source was
	// found instead of being named by the user. Callers should skip such documents.
	Other string
}

// Address returns the name that reports use for the document: the source and, if the source
// contains several documents, the index.
func (d *Document) Address() string {
	r := receipt.Report{Source: d.Source, Index: d.Index, Listed: d.Listed}
	return r.Address()
}

// A DocumentError describes a part of an input that is not a JSON object within the limits of the
// receipt format.
type DocumentError struct {
	Address      string
	Code         receipt.Code
	Detail, Hint string
}

// Error returns the address, the code, and the detail.
func (e *DocumentError) Error() string {
	return fmt.Sprintf("%q: %s: %s", e.Address, e.Code, e.Detail)
}

// Read returns the documents in the sources, in reading order. Each document is a JSON object
// within the limits for receipts. It contains no integers that a double cannot represent. For an
// API envelope, Read returns the receipt in the envelope. Memory use does not grow with the input.
//
// The sequence ends with the first error, which is a *[DocumentError], an *[IncompleteError] if a
// source cannot be read or is empty, or the error from ctx. Read uses only the option Long, and the
// kinds of the sources.
func Read(ctx context.Context, sources []Source, o Options) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &reader{sources: sources, long: o.Long, got: make(chan delivery), next: make(chan struct{}), stop: ctx.Done()}

		// As in a pipeline, Read does not wait for a read that never returns.
		go r.all()
		d := newDocumentDecoder()
		for {
			select {
			case p, more := <-r.got:
				if !more {
					return
				}
				doc, err := d.document(&p)
				if !yield(doc, err) || err != nil {
					return
				}
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}

			// The caller has processed the piece, so its memory may be reused.
			select {
			case r.next <- struct{}{}:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

// A delivery is a piece of a source, or the reason why there are no further pieces.
type delivery struct {
	input.Piece
	source *Source
	other  string // describes a source of a kind that contains no receipts
	err    error
}

// A reader delivers one piece at a time, and waits until the piece has been processed.
type reader struct {
	sources []Source
	long    bool
	got     chan delivery
	next    chan struct{}
	stop    <-chan struct{}
}

func (r *reader) all() {
	defer close(r.got)
	buffer := input.NewBuffer(0)
	for i := range r.sources {
		if !r.read(&r.sources[i], buffer) {
			return
		}
	}
}

func (r *reader) read(source *Source, buffer *bufio.Reader) (more bool) {
	in, err := source.cut(buffer, unpack.Options{Long: r.long}, false, func(int) {})
	if other, beside := source.beside(err); beside {
		return r.hand(delivery{source: source, other: other.What})
	}
	if err != nil {
		return r.hand(delivery{source: source, err: err})
	}
	defer in.Close()

	if source.Kind == Lines {
		in.Hurry()
	}

	for n := 0; ; n++ {
		d, err := in.Next()
		switch {
		case err == io.EOF && n > 0:
			return true
		case err == io.EOF:
			err = errEmpty
		}
		if !r.hand(delivery{d, source, "", err}) {
			return false
		}
	}
}

func (r *reader) hand(p delivery) (more bool) {
	select {
	case r.got <- p:
	case <-r.stop:
		return false
	}
	select {
	case <-r.next:
		return p.err == nil
	case <-r.stop:
		return false
	}
}

// A documentDecoder converts deliveries into documents. It reuses its memory for the next document.
type documentDecoder struct {
	input.Decoder
	out Document
}

func newDocumentDecoder() *documentDecoder {
	d := &documentDecoder{Decoder: input.NewDecoder(archive.NewCodec())}
	d.out.Document = d.Doc
	return d
}

func (d *documentDecoder) document(in *delivery) (*Document, error) {
	if in.err != nil {
		return nil, &IncompleteError{Notices: []Notice{noticeOf(in.source.Name, in.err)}}
	}
	if in.other != "" {
		return &Document{Document: new(canon.Document), Source: in.source.Name, Index: 1, Other: in.other}, nil
	}

	c := d.Decode(&in.Piece, in.source.Found)
	d.out.Source, d.out.Index, d.out.Listed, d.out.Other = in.source.Name, in.Index, !in.Single, c.Other
	if err := d.refused(&c); err != nil {
		err.Address = d.out.Address()
		return nil, err
	}
	return &d.out, nil
}

// refused returns an error if a piece is not an object that could be a receipt. Documents that are
// skipped do not have to be objects.
func (d *documentDecoder) refused(c *input.Contents) *DocumentError {
	switch {
	case c.Fault != nil:
		return &DocumentError{Code: c.Fault.Code, Detail: c.Fault.Words(), Hint: c.Fault.Hint}
	case c.Syntax != nil:
		return syntaxError(c.Syntax)
	case c.Other != "":
		return nil
	case d.Doc.Root().Kind() != canon.KindObject:
		return &DocumentError{Code: receipt.CodeNotObject, Detail: "expected a JSON object"}
	}

	// Integers beyond ±(2^53−1) are not exact in all JSON parsers (RFC 7493 section 2.2).
	if n, found := d.Doc.LossyInteger(); found {
		return &DocumentError{Code: receipt.CodeNumberPrecision,
			Detail: fmt.Sprintf("expected integers within ±9007199254740991, found %s at %.80q", untrusted.Number(n.Raw()), n.Pointer()),
			Hint:   "issuers write such values as strings"}
	}
	return nil
}

func syntaxError(err error) *DocumentError {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return &DocumentError{Code: receipt.CodeSyntax, Detail: err.Error()}
	}
	place := fmt.Sprintf("column %d", syntax.Column)
	if syntax.Line > 1 { // line within the document, which may itself be a line of the source
		place = fmt.Sprintf("line %d, %s", syntax.Line, place)
	}
	return &DocumentError{Code: receipt.Code(syntax.Code), Detail: place + ": " + syntax.Detail, Hint: syntax.Hint}
}

// Receipt parses the JSON text of a receipt into doc, within the limits for receipts, and returns
// the text. If text is an API envelope, Receipt parses and returns the receipt inside the envelope.
// If the text cannot be parsed, doc is empty and the error is a *[canon.SyntaxError].
func Receipt(doc *canon.Document, text []byte) ([]byte, error) { return input.Receipt(doc, text) }
