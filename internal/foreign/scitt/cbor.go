package scitt

import (
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"
)

// Major types (RFC 8949 section 3.1).
const (
	unsigned = iota
	negative
	byteString
	textString
	array
	mapping
	tag
	simple
)

const null = 22 // the argument of the simple value

// An item is a CBOR data item with the bytes that it was read from.
type item struct {
	major byte
	arg   uint64
	data  []byte // of a string
	items []item // of an array; of a map, its keys and values in turn; of a tag, its content
	raw   []byte
}

var errCBOR = errors.New("expected one CBOR item in the shortest form, without indefinite lengths and duplicate keys")

// maxNesting is the depth of items, which a statement does not reach.
const maxNesting = 16

// parse reads one item and permits nothing after it. Libraries accept a length in any form; here,
// two texts of one statement would have two digests.
func parse(data []byte) (item, error) {
	n, rest, err := next(data, maxNesting)
	if err == nil && len(rest) > 0 {
		err = errCBOR
	}
	return n, err
}

func next(data []byte, depth int) (n item, rest []byte, err error) {
	n.major, n.arg, rest, err = head(data)
	if err != nil || depth == 0 {
		return item{}, nil, errCBOR
	}

	switch n.major {
	case byteString, textString:
		if n.arg > uint64(len(rest)) || n.major == textString && !utf8.Valid(rest[:n.arg]) {
			return item{}, nil, errCBOR
		}
		n.data, rest = rest[:n.arg], rest[n.arg:]
	case array, mapping, tag:
		count := map[byte]uint64{array: n.arg, mapping: 2 * n.arg, tag: 1}[n.major]
		if n.arg > uint64(len(rest)) && n.major != tag { // each element has at least one byte
			return item{}, nil, errCBOR
		}
		for range count {
			var e item
			if e, rest, err = next(rest, depth-1); err != nil {
				return item{}, nil, err
			}
			n.items = append(n.items, e)
		}
		if n.major == mapping && n.repeats() {
			return item{}, nil, errCBOR
		}
	}

	n.raw = data[:len(data)-len(rest)]
	return n, rest, nil
}

// head reads the type and the argument of an item, in the shortest form.
func head(data []byte) (major byte, arg uint64, rest []byte, err error) {
	if len(data) == 0 {
		return 0, 0, nil, errCBOR
	}
	major, info := data[0]>>5, data[0]&31
	if rest = data[1:]; info < 24 {
		return major, uint64(info), rest, nil
	}
	size := 1 << (info - 24) // 1, 2, 4, or 8 bytes
	if info > 27 || len(rest) < size || major == simple {
		return 0, 0, nil, errCBOR
	}
	var word [8]byte
	copy(word[8-size:], rest[:size])
	arg = binary.BigEndian.Uint64(word[:])
	if least := []uint64{24, 1 << 8, 1 << 16, 1 << 32}[info-24]; arg < least {
		return 0, 0, nil, errCBOR
	}
	return major, arg, rest[size:], nil
}

// repeats reports whether two keys of a map are equal.
func (n *item) repeats() bool {
	seen := map[string]bool{}
	for i := 0; i < len(n.items); i += 2 {
		if seen[string(n.items[i].raw)] {
			return true
		}
		seen[string(n.items[i].raw)] = true
	}
	return false
}

// at returns the value of an integer label of a map, and whether it exists.
func (n *item) at(label int64) (item, bool) {
	for i := 0; n.major == mapping && i+1 < len(n.items); i += 2 {
		if key, ok := n.items[i].integer(); ok && key == label {
			return n.items[i+1], true
		}
	}
	return item{}, false
}

// without returns the encoding of a map without a label.
func (n *item) without(label int64) []byte {
	var body []byte
	count := uint64(0)
	for i := 0; i+1 < len(n.items); i += 2 {
		if key, ok := n.items[i].integer(); ok && key == label {
			continue
		}
		body = slices.Concat(body, n.items[i].raw, n.items[i+1].raw)
		count++
	}
	return append(appendHead(nil, mapping, count), body...)
}

func (n *item) integer() (int64, bool) {
	switch {
	case n.arg > 1<<53:
		return 0, false
	case n.major == unsigned:
		return int64(n.arg), true
	case n.major == negative:
		return -1 - int64(n.arg), true
	}
	return 0, false
}

// appendHead appends the head of an item in the shortest form.
func appendHead(dst []byte, major byte, arg uint64) []byte {
	switch {
	case arg < 24:
		return append(dst, major<<5|byte(arg))
	case arg < 1<<8:
		return append(dst, major<<5|24, byte(arg))
	case arg < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, major<<5|25), uint16(arg))
	case arg < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, major<<5|26), uint32(arg))
	}
	return binary.BigEndian.AppendUint64(append(dst, major<<5|27), arg)
}

func appendBytes(dst, data []byte) []byte {
	return append(appendHead(dst, byteString, uint64(len(data))), data...)
}
