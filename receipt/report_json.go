package receipt

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// writable reports whether r is as a verifier leaves it. In particular, its lists are not nil, so
// that they are encoded as [] and not as null.
func (r *Report) writable() bool {
	return r != nil && r.Version >= 0 && r.Checks != nil && r.Signatures != nil && r.NotChecked != nil && r.Warnings != nil
}

// appendJSON appends the same bytes that encoding/json would write for r, with the escapes of
// [AppendJSON]. Encoding by reflection would take as long as verifying the receipt.
func (r *Report) appendJSON(dst []byte) ([]byte, error) {
	// The members are in the same order as the fields of the struct, as in encoding/json.
	w := reportWriter{text: append(dst, `{"report_version":`...)}
	w.text = strconv.AppendInt(w.text, int64(r.Version), 10)
	w.word(`,"verdict":`, r.Verdict.String())
	w.word(`,"scope":`, r.Scope.String())
	w.string(`,"source":`, r.Source)
	w.text = strconv.AppendInt(append(w.text, `,"index":`...), int64(r.Index), 10)
	quote(&w, `,"receipt_id":`, r.ReceiptID)
	w.digest(`,"receipt_hash":`, r.ReceiptHash)
	w.digest(`,"input_sha256":`, r.InputSHA256)
	w.time(`,"at":`, r.At)
	if !r.Existed.Time.IsZero() {
		w.time(`,"existed_before":{"time":`, r.Existed.Time)
		w.string(`,"authority":`, r.Existed.Authority)
		w.text = append(w.text, '}')
	}

	w.checks(r.Checks)
	w.signatures(r.Signatures)
	w.notes(`,"not_checked":[`, r.NotChecked)
	w.notes(`,"warnings":[`, r.Warnings)
	w.rules(r.Rules)
	if w.err != nil {
		return dst, w.err
	}

	return append(w.text, '}'), nil
}

// A reportWriter appends members to JSON text.
type reportWriter struct {
	text []byte
	err  error
}

func (w *reportWriter) rules(names []string) {
	if names == nil {
		return
	}
	w.text = append(w.text, `,"rules":[`...)
	for i, name := range names {
		w.comma(i)
		w.string("", name)
	}
	w.text = append(w.text, ']')
}

func (w *reportWriter) checks(list []Check) {
	w.text = append(w.text, `,"checks":[`...)
	for i := range list {
		c := &list[i]
		w.comma(i)
		w.word(`{"check":`, c.Step.String())
		w.word(`,"status":`, c.Status.String())
		if c.bare() { // this is the case for most checks
			w.text = append(w.text, `,"code":"","pointer":"","stated":"","computed":"","detail":"","hint":""}`...)
			continue
		}

		w.string(`,"code":`, string(c.Code))
		w.string(`,"pointer":`, c.Pointer)
		w.string(`,"stated":`, c.Stated)
		w.string(`,"computed":`, c.Computed)
		w.string(`,"detail":`, c.Detail)
		w.string(`,"hint":`, c.Hint)
		w.cause(c)
		w.text = append(w.text, '}')
	}
	w.text = append(w.text, ']')
}

// bare reports whether a check contains nothing but its status.
func (c *Check) bare() bool {
	return c.Code == "" && c.Pointer == "" && c.Stated == "" && c.Computed == "" && c.Detail == "" && c.Hint == "" &&
		c.Cause == "" && c.Related == Place{}
}

func (w *reportWriter) cause(c *Check) {
	if c.Cause != "" {
		w.string(`,"cause":`, string(c.Cause))
	}
	if (c.Related != Place{}) {
		w.value(`,"related":`, c.Related)
	}
}

func (w *reportWriter) signatures(list []SignatureResult) {
	w.text = append(w.text, `,"signatures":[`...)
	for i := range list {
		s := &list[i]
		w.comma(i)
		w.string(`{"key_id":`, s.KeyID)
		w.string(`,"algorithm":`, s.Algorithm)
		w.string(`,"status":`, string(s.Status))
		w.string(`,"role":`, string(s.Role))
		w.string(`,"code":`, string(s.Code))
		w.string(`,"detail":`, s.Detail)
		w.text = append(w.text, '}')
	}
	w.text = append(w.text, ']')
}

func (w *reportWriter) notes(name string, list []Note) {
	w.text = append(w.text, name...)
	for i := range list {
		w.comma(i)
		w.string(`{"code":`, string(list[i].Code))
		w.string(`,"pointer":`, list[i].Pointer)
		w.string(`,"detail":`, list[i].Detail)
		w.text = append(w.text, '}')
	}
	w.text = append(w.text, ']')
}

func (w *reportWriter) comma(i int) {
	if i > 0 {
		w.text = append(w.text, ',')
	}
}

// word appends a member whose value is a constant string of this module. Such a string needs no
// escapes.
func (w *reportWriter) word(name, word string) {
	w.text = append(append(append(append(w.text, name...), '"'), word...), '"')
}

// string appends a member whose value is a string.
func (w *reportWriter) string(name, text string) { quote(w, name, text) }

// These are the sets of bytes up to 63, and from 64 to 126, that [AppendJSON] escapes.
const (
	escapedLow  uint64 = 1<<' ' - 1 | 1<<'"' | 1<<'&' | 1<<'<' | 1<<'>'
	escapedHigh uint64 = 1 << ('\\' - 64)
)

// quote is like string, but also accepts bytes. Text that needs escapes is encoded on a slower
// path.
func quote[T ~string | ~[]byte](w *reportWriter, name string, text T) {
	for i := range len(text) {
		if c := text[i]; c > '~' || (escapedLow>>c|escapedHigh>>(c-64))&1 != 0 {
			w.value(name, string(text))
			return
		}
	}
	w.text = append(append(append(append(w.text, name...), '"'), text...), '"')
}

func (w *reportWriter) digest(name string, d canon.Digest) {
	if !d.IsZero() {
		w.text = append(append(w.text, name...), '"')
		w.text, _ = d.AppendText(w.text) // the AppendText method of a digest never returns an error
		w.text = append(w.text, '"')
	}
}

func (w *reportWriter) time(name string, t Time) {
	switch {
	case t.IsZero():
	case !t.written():
		w.value(name, t) // value records the error
	default:
		w.text = append(t.append(append(append(w.text, name...), '"')), '"')
	}
}

func (w *reportWriter) value(name string, v any) {
	text, err := appendReflected(append(w.text, name...), v)
	if w.err == nil {
		w.err = err
	}
	w.text = text
}

// AppendJSON appends a report, a summary, or any other value as JSON, on a single line. In strings,
// it also escapes characters that encoding/json leaves unchanged but that a terminal or an editor
// might interpret: DEL, C1 controls, bidirectional overrides, and invisible characters. If
// AppendJSON returns an error, the result is dst.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	if r, ok := v.(*Report); ok && r.writable() {
		return r.appendJSON(dst)
	}
	return appendReflected(dst, v)
}

func appendReflected(dst []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return dst, err
	}

	for {
		n := plain(text)
		dst, text = append(dst, text[:n]...), text[n:]
		if len(text) == 0 {
			return dst, nil
		}

		r, n := utf8.DecodeRune(text)
		dst, text = appendRune(dst, r, text[:n]), text[n:]
	}
}

// plain returns the number of bytes at the beginning of text that need no escape. These are the
// ASCII bytes except DEL; control characters have already been escaped by Marshal.
func plain(text []byte) int {
	for i, c := range text {
		if c >= 0x7f {
			return i
		}
	}
	return len(text)
}

func appendRune(dst []byte, r rune, text []byte) []byte {
	switch {
	case !untrusted.Unsafe(r):
		return append(dst, text...)
	case r > 0xffff: // the escape is a surrogate pair (RFC 8259 section 7)
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}
