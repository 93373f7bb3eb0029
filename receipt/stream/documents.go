package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// A Document is one JSON object of an input, as it was found: nobody has judged
// whether it is a receipt. It is valid until the next one.
type Document struct {
	*canon.Document
	Source string
	Index  int  // line, item or element of the source; 1 for a single document
	Listed bool // the source holds more than this one

	// Other is what a document is instead of a receipt, such as "a key set", when
	// it lies in a source that was found and not named. It is then to be skipped.
	Other string
}

// Address names the document as reports do: by its source, and its index when
// the source holds several.
func (d *Document) Address() string {
	r := receipt.Report{Source: d.Source, Index: d.Index, Listed: d.Listed}
	return r.Address()
}

// A DocumentError says why something in an input is not a JSON object within the
// limits of the receipt format.
type DocumentError struct {
	Address      string
	Code         receipt.Code
	Detail, Hint string
}

// Error gives the place, the code and the detail.
func (e *DocumentError) Error() string {
	return fmt.Sprintf("%q: %s: %s", e.Address, e.Code, e.Detail)
}

// Documents returns the documents of sources, in the order of reading. Each is a
// JSON object that a receipt could be: within its limits, with no integers that
// doubles cannot hold. The receipt in an API envelope stands for the envelope.
// Memory does not grow with the input.
//
// The first error ends the sequence: a *[DocumentError], an *[IncompleteError]
// when a source cannot be read or holds nothing, or that of ctx. Of the options
// Long is used, kinds are those of the sources.
func Documents(ctx context.Context, sources []Source, o Options) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &reader{sources: sources, long: o.Long, got: make(chan piece), next: make(chan struct{}), stop: ctx.Done()}

		// As in a pipeline, a read that never returns is not waited for.
		go r.run()
		o := opener{cbor: archive.NewCodec()}
		o.doc.Document = new(canon.Document)
		for {
			select {
			case p, more := <-r.got:
				if !more {
					return
				}
				d, err := o.open(&p)
				if !yield(d, err) || err != nil {
					return
				}
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}

			// The caller is done with the piece: its bytes may be used again.
			select {
			case r.next <- struct{}{}:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

// A piece is what was cut out of a source, or why nothing more can be.
type piece struct {
	document
	source *Source
	err    error
}

// A reader hands out one piece after the other, and waits until each is done
// with.
type reader struct {
	sources []Source
	long    bool
	got     chan piece
	next    chan struct{}
	stop    <-chan struct{}
}

func (r *reader) run() {
	defer close(r.got)
	for i := range r.sources {
		if !r.read(&r.sources[i]) {
			return
		}
	}
}

func (r *reader) read(source *Source) (more bool) {
	in, err := source.open(packing{long: r.long}, func(int) {})
	if err != nil {
		return r.hand(piece{source: source, err: err})
	}
	defer in.close()

	for n := 0; ; n++ {
		d, err := in.next()
		switch {
		case err == io.EOF && n > 0:
			return true
		case err == io.EOF:
			err = errors.New("holds no receipt")
		}
		if !r.hand(piece{d, source, err}) {
			return false
		}
	}
}

func (r *reader) hand(p piece) (more bool) {
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

// An opener parses pieces, with memory that it uses again.
type opener struct {
	doc  Document
	cbor *archive.Codec
	text []byte
}

func (o *opener) open(p *piece) (*Document, error) {
	if p.err != nil {
		notice := Notice{Source: p.source.Name, Detail: p.err.Error()}
		if packed := (*CompressionError)(nil); errors.As(p.err, &packed) {
			notice.Hint = packed.Hint
		}
		return nil, &IncompleteError{[]Notice{notice}}
	}

	d := &o.doc
	d.Source, d.Index, d.Listed, d.Other = p.source.Name, p.index, !p.single, ""
	if err := o.parse(p); err != nil {
		err.Address = d.Address()
		return nil, err
	}
	if p.source.Found {
		d.Other = otherKind(d.Root())
	}

	return d, nil
}

func (o *opener) parse(p *piece) *DocumentError {
	if p.fault != nil {
		return &DocumentError{Code: p.fault.code, Detail: p.fault.detail, Hint: p.fault.hint}
	}
	text := p.data
	if p.cbor {
		var err error
		if o.text, err = o.cbor.AppendJSON(o.text[:0], text); err != nil {
			return documentError(err)
		}
		text = o.text
	}

	// A last line that breaks off may still be being written.
	_, err := Receipt(o.doc.Document, text)
	if err != nil && p.last && !p.single && cutOff(text) {
		return &DocumentError{Code: receipt.CodeTornTail, Detail: "the last line breaks off and has no line end",
			Hint: "it is still being written, or the file was cut off"}
	}
	if err != nil {
		return documentError(err)
	}

	if o.doc.Root().Kind() != canon.KindObject {
		return &DocumentError{Code: receipt.CodeNotObject, Detail: "expected a JSON object"}
	}

	// RFC 7493 section 2.2: integers beyond ±(2^53-1) are not the same number to
	// every reader.
	if n, found := o.doc.LossyInteger(); found {
		return &DocumentError{Code: receipt.CodeNumberPrecision,
			Detail: fmt.Sprintf("expected integers within ±9007199254740991, found %.40s at %.80q", n.Raw(), n.Pointer()),
			Hint:   "issuers write such values as strings"}
	}

	return nil
}

func documentError(err error) *DocumentError {
	var syntax *canon.SyntaxError
	var item *archive.ItemError
	switch {
	case errors.As(err, &syntax):
		place := fmt.Sprintf("column %d", syntax.Column)
		if syntax.Line > 1 { // of the document, which may be a line itself
			place = fmt.Sprintf("line %d, %s", syntax.Line, place)
		}
		return &DocumentError{Code: receipt.Code(syntax.Code), Detail: place + ": " + syntax.Detail, Hint: syntax.Hint}
	case errors.As(err, &item):
		return &DocumentError{Code: receipt.Code(item.Code), Detail: item.Error(), Hint: item.Hint}
	}
	return &DocumentError{Code: receipt.CodeSyntax, Detail: err.Error()}
}
