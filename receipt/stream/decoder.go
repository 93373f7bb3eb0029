package stream

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
)

// A decoder turns pieces into documents. Whoever reads an input has one: what it
// makes of a piece, every reader of this package makes of it. Its memory is used
// again for the next piece.
type decoder struct {
	doc  *canon.Document // of the text; empty when there is none, or it does not parse
	cbor *archive.Codec
	json []byte // the translation of CBOR

	unwrap func(*canon.Document) ([]byte, *receipt.Check, func(*receipt.Verifier, *canon.Document, *receipt.Report)) // of the options
}

func newDecoder(codec *archive.Codec) decoder {
	return decoder{doc: new(canon.Document), cbor: codec}
}

// Contents are what a piece turned out to be: a document that parses, or a fault,
// or a text with a syntax error. They are valid until the next piece.
type contents struct {
	whole   []byte // the JSON text of the piece; nil when it is not JSON
	text    []byte // the text of the receipt in it: another one only inside an API envelope
	wrapped bool   // it is inside one

	sealed bool                                                      // it is inside a signed envelope, which is not judged as text
	wrong  *receipt.Check                                            // what is wrong with that envelope
	weigh  func(*receipt.Verifier, *canon.Document, *receipt.Report) // what it adds to the report

	fault  *fault // why there is no document, unless syntax says all
	syntax error  // why text is not JSON within the limits, a *canon.SyntaxError; beside the fault of a line that breaks off
	other  string // what the document is instead of a receipt, when it was found and not named
}

// parsed reports whether the decoder holds a document that may be a receipt.
func (c *contents) parsed() bool { return c.fault == nil && c.syntax == nil && c.wrong == nil }

// decode parses a piece by the limits of the format. Found says that its source was
// found and not named: other documents of this toolkit may lie there.
func (d *decoder) decode(p *piece, found bool) (c contents) {
	if c.fault = p.fault; c.fault != nil {
		return c
	}

	// An archive is deterministic CBOR, of which there is one translation.
	if c.whole = p.data; p.cbor {
		var err error
		if d.json, err = d.cbor.AppendJSON(d.json[:0], p.data); err != nil {
			return contents{fault: itemFault(err)}
		}
		c.whole = d.json
	}

	c.text, c.syntax = Receipt(d.doc, c.whole)
	c.wrapped = len(c.text) != len(c.whole)
	if c.syntax != nil {
		if p.last && tornTail(c.syntax, c.text) {
			c.fault = &fault{code: vocab.CodeTornTail, torn: true, detail: "the last line breaks off and has no line end",
				hint: "it is still being written, or the file was cut off"}
		}
		return c
	}

	if d.unwrap != nil {
		d.open(&c)
	}
	if found && !c.sealed {
		c.other = otherKind(d.doc.Root())
	}
	return c
}

// open looks for a receipt in a signed envelope.
func (d *decoder) open(c *contents) {
	var inside []byte
	inside, c.wrong, c.weigh = d.unwrap(d.doc)
	if c.sealed = inside != nil || c.wrong != nil; inside != nil {
		c.text, c.syntax = inside, d.doc.Parse(inside, receiptLimits())
	}
}

// itemFault says why CBOR is not an archive of a document.
func itemFault(err error) *fault {
	var bad *archive.ItemError
	if errors.As(err, &bad) {
		return &fault{code: receipt.Code(bad.Code), place: fmt.Sprintf("offset %d", bad.Offset), detail: bad.Detail, hint: bad.Hint}
	}
	return &fault{code: receipt.CodeSyntax, detail: err.Error()}
}

// tornTail reports whether the error of a last line without its line end is that
// the line breaks off: it is still being written, or was cut off.
func tornTail(err error, text []byte) bool {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return false
	}
	switch receipt.Code(syntax.Code) {
	case receipt.CodeSyntax, vocab.CodeInvalidUTF8, vocab.CodeLoneSurrogate:
		return cutOff(text)
	}
	return false
}

// cutOff reports whether text is the beginning of a JSON text: nothing is wrong
// with it but that it ends.
func cutOff(text []byte) bool {
	_, err := canon.Parse(text)
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return false
	}
	rest := text[syntax.Offset:]
	if len(bytes.TrimRight(rest, " \t\r")) == 0 {
		return true
	}

	// A whole character could stand there: in a string.
	begun := !utf8.FullRune(rest) || beginsEscape(rest)
	return begun && cutOff(append(text[:syntax.Offset:syntax.Offset], 'x'))
}

// beginsEscape reports whether text is the beginning of an escape, or of the two
// of a surrogate pair: some end makes it whole.
func beginsEscape(text []byte) bool {
	if !bytes.HasPrefix(text, []byte(`\u`)) {
		return false
	}
	for _, whole := range []string{`\u0000`, `\ud800\udc00`} {
		if len(text) >= len(whole) {
			continue
		}
		if _, err := canon.Parse([]byte(`"` + string(text) + whole[len(text):] + `"`)); err == nil {
			return true
		}
	}
	return false
}

// otherKind names a document that lies beside receipts for good reason; "" for
// any other.
func otherKind(root canon.Node) string {
	has := func(names ...string) bool {
		for _, name := range names {
			if root.Member(name).IsZero() {
				return false
			}
		}
		return true
	}

	switch {
	case has("chain"), bytes.HasPrefix(root.Member("schema").Text(), []byte("receipt-")): // a receipt, however damaged
		return ""
	case root.Member("keys").Kind() == canon.KindArray:
		return "a key set"
	case has("kty", "kid"), has("kty", "crv"):
		return "a key"
	case has("report_version"), has("reports", "summary"), has("summary") && root.Len() == 1:
		return "a verification report"
	case has("batch_version"):
		return "a batch manifest"
	case has("disclosures_version"):
		return "a disclosure file"
	case has("witnesses") && root.Member("witnesses").Kind() == canon.KindObject:
		return "a policy"
	}

	return ""
}
