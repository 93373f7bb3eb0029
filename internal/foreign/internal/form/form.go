// Package form contains checks that the readers of several formats share: strict encodings, member
// lists, and compact JSON with a different order of members than RFC 8785.
package form

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// Fail records that the receipt violates a rule of the format.
func Fail(f *receipt.Foreign, step receipt.Step, code receipt.Code, pointer, format string, args ...any) {
	f.Checks = append(f.Checks, receipt.Check{Step: step, Status: receipt.StatusFailed, Code: code, Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
}

// Leave records that a rule cannot be checked, and why.
func Leave(f *receipt.Foreign, step receipt.Step, code receipt.Code, pointer, format string, args ...any) {
	f.Checks = append(f.Checks, receipt.Check{Step: step, Code: code, Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
}

// Pass records that a step was checked and passed.
func Pass(f *receipt.Foreign, step receipt.Step) {
	f.Checks = append(f.Checks, receipt.Check{Step: step, Status: receipt.StatusPassed})
}

// Uncovered records members that no signature covers.
func Uncovered(f *receipt.Foreign, pointer, detail string) {
	f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeUncovered, Pointer: pointer, Detail: detail})
}

// Hex decodes lowercase hexadecimal digits that represent size bytes, or any positive number of
// bytes if size is 0.
func Hex(text string, size int) ([]byte, bool) {
	b, err := hex.DecodeString(text)
	ok := err == nil && text == strings.ToLower(text) && len(b) > 0 && (size == 0 || len(b) == size)
	return b, ok
}

// URL decodes unpadded base64url, and rejects any encoding other than the canonical one.
func URL(text string) ([]byte, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return b, err == nil && len(b) > 0 && !strings.ContainsAny(text, "\r\n")
}

// Base64 decodes padded base64, and rejects any encoding other than the canonical one.
func Base64(text string) ([]byte, bool) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	return b, err == nil && len(b) > 0 && !strings.ContainsAny(text, "\r\n")
}

// Time parses an RFC 3339 timestamp, and returns the zero time for anything else.
func Time(n canon.Node) time.Time {
	at, _ := receipt.ParseTime(n.Text()) // the zero time if there is an error
	return at
}

// Payload parses the text of a payload with the limits for receipts. If there is a syntax error,
// Payload records a failed parse step and returns nil.
func Payload(f *receipt.Foreign, text []byte, pointer string) *canon.Document {
	doc := new(canon.Document)
	if err := doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}); err != nil {
		var syntax *canon.SyntaxError
		errors.As(err, &syntax) // the only error type that Parse returns
		Fail(f, receipt.StepParse, receipt.Code(syntax.Code), pointer, "the payload: %v", syntax)
		return nil
	}
	return doc
}

// Members checks that an object contains the required members, and that all other members are in
// optional. It records the first violation as a failed schema check, and reports whether there is
// none. If optional is nil, all other members are permitted.
func Members(f *receipt.Foreign, n canon.Node, required, optional []string) bool {
	if n.Kind() != canon.KindObject {
		Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer(), "expected an object")
		return false
	}
	for _, name := range required {
		if n.Member(name).IsZero() {
			Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer(), "missing member %q", name)
			return false
		}
	}
	if optional == nil {
		return true
	}
	for name := range n.Members() {
		if !slices.Contains(required, name.String()) && !slices.Contains(optional, name.String()) {
			Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer(), "unknown member %s", untrusted.Quote(name.Text(), 80))
			return false
		}
	}
	return true
}

// Strings checks that the named members of an object are non-empty strings.
func Strings(f *receipt.Foreign, n canon.Node, names ...string) bool {
	for _, name := range names {
		if len(n.Member(name).Text()) == 0 {
			Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer(), "%q is not a string, or is empty", name)
			return false
		}
	}
	return true
}

// OneOf checks that a value is one of the listed strings.
func OneOf(f *receipt.Foreign, n canon.Node, list ...string) bool {
	if n.Kind() != canon.KindString || !slices.Contains(list, n.String()) {
		Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer(), "%s is not a value of this member", untrusted.Quote(n.Raw(), 80))
		return false
	}
	return true
}

// Exact leaves the schema unchecked if the document contains an integer that shares its canonical
// form (RFC 8785) with other integers, because no signature distinguishes them.
func Exact(f *receipt.Foreign, doc *canon.Document) {
	if n, lossy := doc.LossyInteger(); lossy {
		Leave(f, receipt.StepSchema, receipt.CodeNumberPrecision, n.Pointer(), "an integer outside ±(2^53−1) has the canonical form of others, too")
	}
}

// Integer returns the value of an integer with at most 15 digits, written without a fraction or an
// exponent.
func Integer(n canon.Node) (int64, bool) {
	raw := n.Raw()
	if n.Kind() != canon.KindNumber || len(raw) > 15 || bytes.ContainsAny(raw, ".eE") {
		return 0, false
	}
	return int64(n.Float()), true
}

// Integers checks that all numbers in a value are integers with a magnitude below 2^53, written
// without a fraction or an exponent.
func Integers(f *receipt.Foreign, n canon.Node) bool {
	if n.Kind() == canon.KindNumber && (bytes.ContainsAny(n.Raw(), ".eE") || n.Float() >= 1<<53 || n.Float() <= -1<<53) {
		Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer(), "a number is not an integer below 2^53")
		return false
	}
	for _, e := range n.Elements() {
		if !Integers(f, e) {
			return false
		}
	}
	for _, e := range n.Members() {
		if !Integers(f, e) {
			return false
		}
	}
	return true
}

// AppendSorted appends the compact form of a value, with the members sorted by the UTF-8 bytes of
// their names and the numbers as spelled. It omits members of the outermost object whose names are
// in omit.
func AppendSorted(dst []byte, n canon.Node, omit ...string) []byte {
	switch n.Kind() {
	case canon.KindString:
		return canon.AppendString(dst, n.Text())
	case canon.KindArray:
		dst = append(dst, '[')
		for i, e := range n.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendSorted(dst, e)
		}
		return append(dst, ']')
	case canon.KindObject:
		type member struct{ name, value canon.Node }
		var list []member
		for name, value := range n.Members() {
			if !slices.Contains(omit, name.String()) {
				list = append(list, member{name, value})
			}
		}
		slices.SortFunc(list, func(a, b member) int { return bytes.Compare(a.name.Text(), b.name.Text()) })

		dst = append(dst, '{')
		for i, m := range list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(canon.AppendString(dst, m.name.Text()), ':')
			dst = AppendSorted(dst, m.value)
		}
		return append(dst, '}')
	}
	return append(dst, n.Raw()...)
}

// Canonical returns the canonical form (RFC 8785) of a value that consists of strings, lists, and
// objects.
func Canonical(v any) []byte {
	text, err := json.Marshal(v)
	if err == nil {
		text, err = canon.Transform(text)
	}
	if err != nil {
		panic(err) // these types can be encoded as JSON
	}
	return text
}

// HexOf returns the hexadecimal digits of a digest, without the name of the algorithm.
func HexOf(d canon.Digest) string { return strings.TrimPrefix(d.String(), "sha256:") }

// Escape returns text for use in a URN: every byte that is not unreserved is percent-encoded (RFC 3986
// section 2.1).
func Escape(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Unescape reverses [Escape]. It returns escaped unchanged if Escape cannot have produced it.
func Unescape(escaped string) string {
	parts := strings.Split(escaped, "%")
	text := parts[0]
	for _, part := range parts[1:] {
		code, err := hex.DecodeString(part[:min(2, len(part))])
		if err != nil || len(code) != 1 {
			return escaped
		}
		text += string(code) + part[2:]
	}
	if Escape(text) != escaped {
		return escaped
	}
	return text
}
