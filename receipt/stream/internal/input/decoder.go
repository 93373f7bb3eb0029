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

// A Decoder converts the pieces of an input into documents. All readers in package stream use a
// Decoder, so that they interpret pieces in the same way. A Decoder reuses its memory for the next
// piece.
type Decoder struct {
	Doc  *canon.Document // the parsed document; empty if the piece contains no text or if parsing failed
	cbor *archive.Codec
	JSON []byte // the JSON text that resulted from converting CBOR

	Unwrap func(*canon.Document) ([]byte, *receipt.Check, func(*receipt.Verifier, *canon.Document, *receipt.Report)) // see stream.Options
}

// NewDecoder returns a decoder that uses codec to convert CBOR to JSON.
func NewDecoder(codec *archive.Codec) Decoder {
	return Decoder{Doc: new(canon.Document), cbor: codec}
}

// Contents are the result of decoding a piece: a parsed document, a fault, or text with a syntax
// error. Contents are valid until the next piece is decoded.
type Contents struct {
	Whole   []byte // the JSON text of the entire piece; nil if the piece is not JSON
	Text    []byte // the text of the receipt, which differs from Whole if the receipt is inside an API envelope
	Wrapped bool   // the receipt is inside an API envelope

	// Sealed reports that the document is a signed envelope or a third-party receipt. Its text is
	// therefore not verified as a receipt of this format. Wrong is the reason why such a document
	// is not checked further.
	Sealed bool
	Wrong  *receipt.Check

	// Format is the format of a third-party receipt. Despite Wrong, such a receipt is checked
	// further if there is a reader for its format.
	Format kind.Kind

	// Weigh adds the results for a signed envelope to the report.
	Weigh func(*receipt.Verifier, *canon.Document, *receipt.Report)

	// If there is no document, Fault or Syntax explains why. Syntax is a *canon.SyntaxError if Text
	// is not JSON within the limits, and Fault is any other reason. If the last line is truncated,
	// both are set.
	Fault  *Fault
	Syntax error

	Other string // describes a document that is not a receipt; set only if the source was found instead of being named by the user
}

// Parsed reports whether the piece was parsed as a document that may be a receipt.
func (c *Contents) Parsed() bool { return c.Fault == nil && c.Syntax == nil && c.Wrong == nil }

// Decode parses a piece within the limits for receipts. If found is set, the source was found
// rather than named by the user, so it may contain other documents of this toolkit.
func (d *Decoder) Decode(p *Piece, found bool) (c Contents) {
	if c.Fault = p.fault; c.Fault != nil {
		return c
	}

	// Archived documents are deterministic CBOR, which has exactly one JSON form.
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
				c.Format = kind.AELLine // the reader for this format does not need a JSON document
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

// foreignReceipt returns a check that leaves a third-party receipt undecided, or nil if text is not
// a third-party receipt.
func foreignReceipt(text []byte) *receipt.Check {
	f := kind.Of(text, true)
	if !f.Kind.ForeignReceipt() {
		return nil
	}
	return &receipt.Check{Code: receipt.CodeForeignReceipt, Stated: string(f.Kind), Detail: fmt.Sprintf("it is %s, format %s: %s", f.What, f.Kind, f.Next), Hint: f.Next}
}

// open looks for a receipt inside a signed envelope. A third-party receipt attests nothing, even if
// it is inside an envelope.
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

// itemFault returns the fault for a CBOR item that is not an archived document.
func itemFault(err error) *Fault {
	var bad *archive.ItemError
	if errors.As(err, &bad) {
		return &Fault{Code: receipt.Code(bad.Code), place: fmt.Sprintf("offset %d", bad.Offset), Detail: bad.Detail, Hint: bad.Hint}
	}
	return &Fault{Code: receipt.CodeSyntax, Detail: err.Error()}
}

// tornTail reports whether the last line is truncated. This is the case if text without a line
// ending has a syntax error at its end. Such a line was cut off or is still being written.
func tornTail(err error, text []byte) bool {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return false
	}

	// The line may also end within a character.
	switch receipt.Code(syntax.Code) {
	case receipt.CodeSyntax, receipt.CodeInvalidUTF8, receipt.CodeLoneSurrogate:
		return cutOff(text)
	}
	return false
}

// damaged reports whether text has an error that no continuation of the text removes.
func damaged(text []byte) bool {
	err := new(canon.Document).Parse(text, envelopeLimits())
	return err != nil && !cutOff(text)
}

// cutOff reports whether text is the beginning of a JSON text, with no error except that it is
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

	// Inside a string, the rest of the character could follow.
	begun := !utf8.FullRune(rest) || beginsEscape(rest)
	return begun && cutOff(append(text[:syntax.Offset:syntax.Offset], 'x'))
}

// beginsEscape reports whether text is the beginning of an escape sequence that could be completed,
// or of a surrogate pair of such sequences.
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

// otherKind describes a document that is often stored next to receipts, or returns "" for any other
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
	case has("chain"), bytes.HasPrefix(root.Member("schema").Text(), []byte("receipt-")): // this is a receipt, even if it is damaged
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
	case root.Member("witnesses").Kind() == canon.KindObject:
		return "a policy"
	}

	return ""
}
