package archive

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// maxSafe is the largest integer that a double can distinguish from adjacent integers (RFC 7493
// section 2.2).
const maxSafe = 1<<53 - 1

// A translator converts an item to JSON. The JSON is canonical except for the order of members, so
// it is as long as the canonical JSON. The translator stops at the first part that no archive can
// contain. The caller checks the JSON completely by encoding it again.
//
// A decoder that builds a tree of Go values would need about 40 bytes of memory for each byte of a
// malicious item, and could not report where an error is.
type translator struct {
	item  []byte
	at    int
	depth int
	text  []byte
	cut   bool // the item is truncated, so its lengths may exceed it
}

// malformed returns the reason why neither an archive of an object nor a COSE_Sign1 message can
// begin with part, or nil if it finds no such reason. Only complete heads and strings are examined.
func malformed(part []byte) *ItemError {
	t := translator{item: part, cut: true}
	switch {
	case part[0] == majorTag<<5|18: // COSE_Sign1
		return nil
	case part[0]>>5 != majorMap:
		return t.refuse(0, codeNonDeterministic, "expected a map, found the byte 0x%02x", part[0])
	}
	if err := t.value(); err != nil && err.Offset < int64(len(part)) {
		return err
	}
	return nil
}

// translate appends the JSON for item, which must contain exactly one item, to dst.
func translate(dst, item []byte) ([]byte, *ItemError) {
	t := translator{item: item, text: dst}
	if len(item) == 0 {
		return nil, t.refuse(0, codeEmptyInput, "expected a CBOR item, found nothing")
	}
	if len(item) > MaxItemBytes {
		return nil, t.refuse(0, codeSizeLimit, "expected an item of at most %d bytes, found %d", MaxItemBytes, len(item))
	}
	if err := t.value(); err != nil {
		return nil, err
	}
	if t.at < len(item) {
		return nil, t.refuse(t.at, codeTrailingData, "expected the end of the input after the item, found the byte 0x%02x", item[t.at])
	}
	return t.text, nil
}

func (t *translator) refuse(offset int, code, format string, args ...any) *ItemError {
	return refuse(t.item, int64(offset), code, format, args...)
}

// head reads the next head.
func (t *translator) head() (head, *ItemError) {
	h, whole := readHead(t.item[t.at:])
	if !whole {
		return h, t.refuse(len(t.item), codeSyntax, "expected a CBOR item, found the end of the input")
	}
	if code, found := h.malformed(); code != "" {
		return h, t.refuse(t.at, code, "expected a CBOR item of definite length, found %s", found)
	}
	if !h.shortest() {
		return h, t.refuse(t.at, codeNonDeterministic, "expected the shortest head, found %s in %d bytes", h, h.size)
	}
	t.at += h.size
	return h, nil
}

func (t *translator) value() *ItemError {
	start := t.at
	h, err := t.head()
	if err != nil {
		return err
	}
	if t.cut && h.arg > receipt.MaxBytes && h.major > majorBytes && h.major < majorTag {
		return t.tooLong(start)
	}

	// JSON has neither byte strings nor tags (RFC 8949 section 3.1).
	switch h.major {
	case majorUnsigned, majorNegative:
		err = t.integer(start, h)
	case majorText:
		err = t.string(start, h)
	case majorArray:
		err = t.array(start, h)
	case majorMap:
		err = t.object(start, h)
	case majorSimple:
		err = t.simple(start, h)
	default:
		err = t.refuse(start, codeNonDeterministic, "expected a value that JSON has, found %s", h)
	}

	// Check the length after each value, so that the JSON never exceeds the limit by much.
	if err == nil && len(t.text) > receipt.MaxBytes {
		err = t.tooLong(start)
	}
	return err
}

func (t *translator) tooLong(offset int) *ItemError {
	return t.refuse(offset, codeSizeLimit, "expected at most %d bytes of canonical JSON, found more", receipt.MaxBytes)
}

func (t *translator) integer(start int, h head) *ItemError {
	magnitude := h.arg
	if h.major == majorNegative { // value is -1 minus the argument
		if magnitude < math.MaxUint64 {
			magnitude++
		}
		t.text = append(t.text, '-')
	}
	if magnitude > maxSafe {
		return t.refuse(start, codeNumberPrecision, "expected a number within ±(2^53−1), found one beyond")
	}
	t.text = strconv.AppendUint(t.text, magnitude, 10)
	return nil
}

func (t *translator) simple(start int, h head) *ItemError {
	switch {
	case 20 <= h.info && h.info <= 22: // false, true, and null have the same names in JSON
		t.text = append(t.text, h.String()...)
		return nil
	case h.info > infoOneByte:
		return t.float(start, h)
	}
	return t.refuse(start, codeNonDeterministic, "expected a value that JSON has, found %s", h)
}

func (t *translator) float(start int, h head) *ItemError {
	f := h.float()
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return t.refuse(start, codeNumberRange, "expected a finite number, found %s", h)
	case f != math.Trunc(f):
		if t.cut && h.size > shortestFloat(f) { // the codec compares a complete item with its encoding
			return t.refuse(start, codeNonDeterministic, "expected the shortest float, found one in %d bytes", h.size)
		}
		t.text = canon.AppendFloat(t.text, f)
		return nil
	case math.Abs(f) > maxSafe:
		return t.refuse(start, codeNumberPrecision, "expected a number within ±(2^53−1), found one beyond")
	}
	return t.refuse(start, codeNonDeterministic, "expected an integer, found %s", h)
}

// content returns the content of the string whose head is h.
func (t *translator) content(h head) ([]byte, *ItemError) {
	if rest := len(t.item) - t.at; h.arg > uint64(rest) {
		return nil, t.refuse(len(t.item), codeSyntax, "expected %s, found the end of the input after %d bytes", h, rest)
	}
	text := t.item[t.at : t.at+int(h.arg)]
	if !utf8.Valid(text) {
		bad := len(text) - len(trimValid(text))
		return nil, t.refuse(t.at+bad, codeInvalidUTF8, "expected UTF-8, found the byte 0x%02x", text[bad])
	}
	t.at += len(text)
	return text, nil
}

// trimValid returns the rest of text, starting at the first byte that is not valid UTF-8.
func trimValid(text []byte) []byte {
	for {
		if r, size := utf8.DecodeRune(text); r != utf8.RuneError || size != 1 {
			text = text[size:]
			continue
		}
		return text
	}
}

func (t *translator) string(start int, h head) *ItemError {
	text, err := t.content(h)
	if err != nil {
		return err
	}
	if len(t.text)+len(text)+len(`""`) > receipt.MaxBytes { // before it is copied
		return t.tooLong(start)
	}
	t.text = canon.AppendString(t.text, text)
	return nil
}

// enter begins an array or a map of h.arg values or pairs. Each value takes at least one byte, so
// an impossible number of values is detected before the first value is parsed.
func (t *translator) enter(start int, h head, each uint64) *ItemError {
	if t.depth++; t.depth > receipt.MaxDepth {
		return t.refuse(start, codeDepthLimit, "expected at most %d nested levels, found more", receipt.MaxDepth)
	}
	if rest := uint64(len(t.item) - t.at); !t.cut && h.arg > rest/each {
		return t.refuse(len(t.item), codeSyntax, "expected %s, found the end of the input after %d bytes", h, rest)
	}
	return nil
}

func (t *translator) array(start int, h head) *ItemError {
	if err := t.enter(start, h, 1); err != nil {
		return err
	}

	t.text = append(t.text, '[')
	for i := range h.arg {
		if i > 0 {
			t.text = append(t.text, ',')
		}
		if err := t.value(); err != nil {
			return err
		}
	}

	t.text = append(t.text, ']')
	t.depth--
	return nil
}

func (t *translator) object(start int, h head) *ItemError {
	if err := t.enter(start, h, 2); err != nil {
		return err
	}

	// Keys must be sorted by their encodings (RFC 8949 section 4.2.1).
	t.text = append(t.text, '{')
	var previous []byte
	for i := range h.arg {
		if i > 0 {
			t.text = append(t.text, ',')
		}
		key, err := t.key(previous, i == 0)
		if err != nil {
			return err
		}
		previous = key

		t.text = append(canon.AppendString(t.text, key), ':')
		if err := t.value(); err != nil {
			return err
		}
	}

	t.text = append(t.text, '}')
	t.depth--
	return nil
}

// key parses the key of a map, and compares it with the previous key.
func (t *translator) key(previous []byte, first bool) ([]byte, *ItemError) {
	start := t.at
	h, err := t.head()
	if err != nil {
		return nil, err
	}
	if h.major != majorText {
		return nil, t.refuse(start, codeNonDeterministic, "expected text as the key of a map, found %s", h)
	}

	// Invalid UTF-8 must be reported before the wrong order, because only valid strings are
	// compared.
	key, err := t.content(h)
	if err != nil || first {
		return key, err
	}

	// A map in which a key occurs twice is invalid (RFC 8949 section 5.3.1).
	switch order := compareKeys(previous, key); {
	case order == 0:
		return nil, t.refuse(start, codeDuplicateName, "expected a key after %q, found it again", clip(key))
	case order > 0:
		return nil, t.refuse(start, codeNonDeterministic, "expected a key after %q in the order of encodings, found %q", clip(previous), clip(key))
	}

	return key, nil
}

// compareKeys compares two keys by their encodings (RFC 8949 section 4.2.1). A longer string sorts
// after a shorter string, because the head of a string contains its length in bytes.
func compareKeys(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare(a, b)
}
