package stream

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// A worker judges one item after the other with memory of its own.
type worker struct {
	v    *receipt.Verifier
	doc  *canon.Document
	cbor *archive.Codec
}

// verify makes the report of an item and gathers its facts.
func (w *worker) verify(it *item, found bool) {
	it.facts.placed, it.other = false, ""
	rep := &it.rep
	if it.fault != nil {
		w.refuse(it)
		return
	}

	judged := it.data
	if it.cbor {
		text, err := w.cbor.ToJSON(it.data)
		if err != nil {
			w.refuseItem(it, err)
			return
		}
		it.data = text
	}

	w.v.VerifyBytes(it.data, w.doc, rep)

	// What goes beyond the limits of a receipt may be an envelope around one.
	switch rep.Finding().Code {
	case receipt.CodeNotAReceipt, receipt.CodeDepthLimit, receipt.CodeSizeLimit, receipt.CodeNumberPrecision:
		w.unwrap(it)
	default:
		if it.last && !it.single {
			w.torn(it)
		}
	}

	// The digest is of the bytes that were received, not of their translation.
	if it.cbor && !rep.InputSHA256.IsZero() {
		rep.InputSHA256 = canon.Sum(judged)
	}
	if rep.Verdict == receipt.Undecided && w.doc.Root().IsZero() {
		w.locate(it, it.data, false) // beyond the caller's limits, but perhaps not the format's
		return
	}

	it.facts.gather(w.doc, rep.ReceiptHash)
	if found && !it.facts.placed {
		it.other = otherKind(w.doc.Root())
	}
}

// refuse reports what could not be cut out of its input.
func (w *worker) refuse(it *item) {
	c := receipt.Check{Status: receipt.StatusFailed, Code: it.fault.code, Detail: it.fault.detail, Hint: it.fault.hint}
	if it.fault.torn {
		c.Status = receipt.StatusNotChecked
	}
	w.v.Unreadable(&it.rep, c)
}

// refuseItem reports CBOR that is not an archive of a receipt.
func (w *worker) refuseItem(it *item, err error) {
	c := receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeSyntax, Detail: err.Error()}
	var bad *archive.ItemError
	if errors.As(err, &bad) {
		c.Code, c.Detail, c.Hint = receipt.Code(bad.Code), bad.Detail, bad.Hint
	}
	w.v.Unreadable(&it.rep, c)
	it.rep.InputSHA256 = canon.Sum(it.data)
}

// torn leaves a last line open that has no line end and breaks off: it is still
// being written, or was cut off.
func (w *worker) torn(it *item) {
	switch it.rep.Finding().Code {
	case receipt.CodeSyntax, receipt.CodeInvalidUTF8, receipt.CodeLoneSurrogate:
	default:
		return
	}
	if !cutOff(it.data) {
		return
	}

	sum := it.rep.InputSHA256
	w.v.Unreadable(&it.rep, receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeTornTail,
		Detail: "the last line breaks off and has no line end", Hint: "it is still being written, or the file was cut off"})
	it.rep.InputSHA256 = sum
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
	begun := !utf8.FullRune(rest) || beginsEscape(rest)
	return begun && cutOff(append(text[:syntax.Offset:syntax.Offset], 'x')) // a whole character could stand there: in a string
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

// unwrap judges the receipt inside an API envelope in its place: what the receipt
// format forbids may be around it.
func (w *worker) unwrap(it *item) {
	payload := payloadIn(w.doc, it.data)
	if payload == nil {
		return
	}
	it.data = payload
	w.v.VerifyBytes(it.data, w.doc, &it.rep)
	it.rep.NotChecked = append(it.rep.NotChecked, receipt.Note{Code: receipt.CodeEnvelopeNotChecked, Pointer: "/wire/payload",
		Detail: "the API envelope around the receipt: nothing protects it"})
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

// survey gathers the facts of an item and makes no report. It sees receipts where
// verify sees them.
func (w *worker) survey(it *item, found bool) {
	it.facts.placed, it.other = false, ""
	if it.fault != nil {
		return
	}
	text := it.data
	if it.cbor {
		var err error
		if text, err = w.cbor.ToJSON(text); err != nil {
			return
		}
	}
	w.locate(it, text, found)
}

// locate gathers the facts of a JSON text by the limits of the format.
func (w *worker) locate(it *item, text []byte, found bool) {
	if _, err := Receipt(w.doc, text); err != nil {
		return
	}
	it.facts.gather(w.doc, canon.Digest{})
	if found && !it.facts.placed {
		it.other = otherKind(w.doc.Root())
	}
}
