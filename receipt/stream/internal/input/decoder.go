package input

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// A Decoder converts pieces into documents. All readers in package stream use it, so that they
// interpret a piece in the same way. It reuses its memory for the next piece.
type Decoder struct {
	Doc  *canon.Document // the parsed text; empty if there is no text, or if the text does not parse
	cbor *archive.Codec
	JSON []byte // the JSON into which CBOR was converted

	Unwrap func(*canon.Document) ([]byte, *receipt.Check, func(*receipt.Verifier, *canon.Document, *receipt.Report)) // see stream.Options
}

// NewDecoder returns a decoder that uses a codec to convert CBOR to JSON.
func NewDecoder(codec *archive.Codec) Decoder {
	return Decoder{Doc: new(canon.Document), cbor: codec}
}

// Contents are the result of decoding a piece: a document that parses, a fault, or a text with a
// syntax error. They are valid until the next piece is decoded.
type Contents struct {
	Whole   []byte // the JSON text of the piece; nil if it is not JSON
	Text    []byte // the text of the receipt; it differs from Whole inside an API envelope
	Wrapped bool   // the receipt is inside an API envelope

	// Sealed states that the document is a signed envelope, or a receipt in another format, and is
	// not judged as text. Wrong is the reason why such a document is not judged further.
	Sealed bool
	Wrong  *receipt.Check

	// Format is the third-party format. The document is judged further if there is a reader for it.
	Format kind.Kind

	// Weigh adds the signed envelope's results to the report.
	Weigh func(*receipt.Verifier, *canon.Document, *receipt.Report)

	// Fault is the reason why there is no document, unless Syntax explains it. Syntax is the reason
	// why Text is not JSON within the limits, as a *canon.SyntaxError. For a truncated line, both
	// are set.
	Fault  *Fault
	Syntax error

	Other string // describes a found document that is not a receipt
}

// Parsed reports whether the decoder holds a document that may be a receipt.
func (c *Contents) Parsed() bool { return c.Fault == nil && c.Syntax == nil && c.Wrong == nil }

// Decode parses a piece within the limits of the format. found states that the source was found
// instead of being named by the user, so that it may contain other documents of this toolkit.
func (d *Decoder) Decode(p *Piece, found bool) (c Contents) {
	if c.Fault = p.fault; c.Fault != nil {
		return c
	}

	// An archive is deterministic CBOR, which has exactly one JSON form.
	if c.Whole = p.Data; p.CBOR {
		var err error
		if d.JSON, err = d.cbor.AppendJSON(d.JSON[:0], p.Data); err != nil {
			if wrong := foreignReceipt(p.Data); wrong != nil {
				return Contents{Text: p.Data, Fault: itemFault(err), Sealed: true, Wrong: wrong, Format: kind.Kind(wrong.Stated)}
			}
			return Contents{Fault: itemFault(err)}
		}
		c.Whole = d.JSON
	}

	c.Text, c.Syntax = Receipt(d.Doc, c.Whole)
	c.Wrapped = len(c.Text) != len(c.Whole)
	if c.Syntax != nil {
		if !startsObject(c.Text) || beyondLimits(c.Syntax) {
			c.Wrong = foreignReceipt(c.Text)
		}
		if c.Wrong != nil {
			c.Sealed, c.Syntax = true, nil
			if c.Wrong.Stated == string(kind.AELLine) {
				c.Format = kind.AELLine // the format's reader needs no JSON document
			}
			return c
		}
		if p.last && tornTail(c.Syntax, c.Text) {
			c.Fault = &Fault{Code: receipt.CodeTornTail, Torn: true, Detail: "the last line is incomplete",
				Hint: "it is still being written, or the file was cut off"}
		}
		return c
	}

	if root := d.Doc.Root(); !bytes.HasPrefix(root.Member("schema").Text(), []byte("receipt-")) {
		if c.Wrong = foreignReceipt(c.Text); c.Wrong != nil {
			c.Sealed, c.Format = true, kind.Kind(c.Wrong.Stated)
		}
	}
	if d.Unwrap != nil {
		d.open(&c)
	}
	if found && !c.Sealed {
		c.Other = otherKind(d.Doc.Root())
	}
	return c
}

func startsObject(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
}

// foreignReceipt returns the check of a third-party receipt, which leaves the receipt undecided, or
// nil for any other text.
func foreignReceipt(text []byte) *receipt.Check {
	f := kind.Of(text, true)
	if !f.Kind.ForeignReceipt() {
		return nil
	}
	return &receipt.Check{Code: receipt.CodeForeignReceipt, Stated: string(f.Kind), Detail: fmt.Sprintf("it is %s, format %s: %s", f.What, f.Kind, f.Next), Hint: f.Next}
}

// open looks for a receipt in a signed envelope. A third-party receipt attests nothing, even in an
// envelope.
func (d *Decoder) open(c *Contents) {
	if c.Format != "" {
		_, _, c.Weigh = d.Unwrap(new(canon.Document))
		return
	}
	var inside []byte
	inside, c.Wrong, c.Weigh = d.Unwrap(d.Doc)
	if c.Sealed = inside != nil || c.Wrong != nil; inside != nil {
		c.Text, c.Syntax = inside, d.Doc.Parse(inside, receiptLimits())
	}
}

// itemFault returns the fault for CBOR that is not an archived document.
func itemFault(err error) *Fault {
	var bad *archive.ItemError
	if errors.As(err, &bad) {
		return &Fault{Code: receipt.Code(bad.Code), place: fmt.Sprintf("offset %d", bad.Offset), Detail: bad.Detail, Hint: bad.Hint}
	}
	return &Fault{Code: receipt.CodeSyntax, Detail: err.Error()}
}

// tornTail reports whether the last line is truncated: it has a syntax error at its end, and no
// line end. The line is still being written, or was cut off.
func tornTail(err error, text []byte) bool {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return false
	}

	// The line may also end in the middle of a character.
	switch receipt.Code(syntax.Code) {
	case receipt.CodeSyntax, receipt.CodeInvalidUTF8, receipt.CodeLoneSurrogate:
		return cutOff(text)
	}
	return false
}

// cutOff reports whether text is the beginning of a JSON text, so that its only fault is that it is
// incomplete.
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

	// A complete character could follow here, inside a string.
	begun := !utf8.FullRune(rest) || beginsEscape(rest)
	return begun && cutOff(append(text[:syntax.Offset:syntax.Offset], 'x'))
}

// beginsEscape reports whether text is the beginning of an escape, or of the two escapes of a
// surrogate pair, that can be completed.
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

// otherKind describes a document that is often stored with receipts, or returns "" for any other
// document.
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
	case root.Member("schema").String() == "timestamp-2026-11":
		return "a timestamp"
	case has("disclosures_version"):
		return "a disclosure file"
	case has("witnesses") && root.Member("witnesses").Kind() == canon.KindObject:
		return "a policy"
	}

	return ""
}
