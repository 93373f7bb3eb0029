package archive

import (
	"encoding/binary"
	"fmt"
	"math"
)

// These are the major types (RFC 8949 section 3.1).
const (
	majorUnsigned = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple // and floats
)

// These are values of the additional information (RFC 8949 sections 3, 3.2, and 3.3). A value up to
// 23 is the argument itself. The values 24 to 27 mean that the argument is in the next 1, 2, 4, or
// 8 bytes.
const (
	infoOneByte    = 24
	infoTwoBytes   = 25
	infoFourBytes  = 26
	infoEightBytes = 27
	infoIndefinite = 31 // or, for major type 7, the break at the end of such an item
)

// A head is the beginning of a data item. It consists of a byte with the major type and the
// additional information, followed by the argument (RFC 8949 section 3).
type head struct {
	major, info byte
	arg         uint64
	size        int // length in bytes
}

// readHead returns the head at the beginning of b. It returns false if b ends inside the head.
func readHead(b []byte) (h head, whole bool) {
	if len(b) == 0 {
		return head{}, false
	}

	// Additional information up to 23 is the argument itself. With 28 to 31, there is no argument
	// (RFC 8949 section 3).
	h = head{major: b[0] >> 5, info: b[0] & 31, size: 1}
	if h.info < infoOneByte || h.info > infoEightBytes {
		h.arg = uint64(h.info)
		return h, true
	}

	// With 24 to 27, the argument is in the next 1, 2, 4, or 8 bytes.
	if h.size += 1 << (h.info - infoOneByte); len(b) < h.size {
		return head{}, false
	}
	switch h.info {
	case infoOneByte:
		h.arg = uint64(b[1])
	case infoTwoBytes:
		h.arg = uint64(binary.BigEndian.Uint16(b[1:]))
	case infoFourBytes:
		h.arg = uint64(binary.BigEndian.Uint32(b[1:]))
	case infoEightBytes:
		h.arg = binary.BigEndian.Uint64(b[1:])
	}

	return h, true
}

// malformed describes why a head is invalid anywhere in an item (RFC 8949 appendix F), or returns
// empty strings if the head can be valid.
func (h head) malformed() (code, found string) {
	switch {
	case h.info > infoEightBytes && h.info < infoIndefinite:
		return codeSyntax, fmt.Sprintf("the reserved additional information %d", h.info)
	case h.info == infoIndefinite:
		return h.indefinite()
	case h.major == majorSimple && h.info == infoOneByte && h.arg < 32:
		return codeSyntax, fmt.Sprintf("the simple value %d in two bytes", h.arg)
	}
	return "", ""
}

// indefinite describes a head whose additional information is 31 (RFC 8949 section 3.2). An
// indefinite length is well-formed for a string, an array, or a map, but is never deterministic.
// Any other such head is malformed.
func (h head) indefinite() (code, found string) {
	switch h.major {
	case majorBytes, majorText, majorArray, majorMap:
		return codeNonDeterministic, "one of indefinite length"
	case majorSimple:
		return codeSyntax, "a break outside of an item of indefinite length"
	}
	return codeSyntax, "an integer or tag of indefinite length"
}

// shortest reports whether the argument is in its shortest form (RFC 8949 section 4.2.1). The
// argument of a float is the float's value, so the argument's size does not matter here.
func (h head) shortest() bool {
	switch {
	case h.major == majorSimple:
		return true
	case h.info == infoOneByte:
		return h.arg >= infoOneByte
	case h.info == infoTwoBytes:
		return h.arg > math.MaxUint8
	case h.info == infoFourBytes:
		return h.arg > math.MaxUint16
	case h.info == infoEightBytes:
		return h.arg > math.MaxUint32
	}
	return true
}

// shortestFloat returns the number of bytes of the shortest float with the value f, which is not an
// integer.
func shortestFloat(f float64) int {
	// A half-precision float has 11 significant bits and an exponent of at least -14 (IEEE 754).
	_, exponent := math.Frexp(f)
	unit := math.Ldexp(1, max(exponent, -13)-11)
	switch {
	case math.Trunc(f/unit) == f/unit:
		return 3
	case float64(float32(f)) == f:
		return 5
	}
	return 9
}

// String describes the item that begins with the head, for a message.
func (h head) String() string {
	switch h.major {
	case majorUnsigned: // omits the value, because it might be a misplaced secret
		return "an integer"
	case majorNegative:
		return "a negative integer"
	case majorBytes:
		return fmt.Sprintf("a byte string of %d bytes", h.arg)
	case majorText:
		return fmt.Sprintf("a text of %d bytes", h.arg)
	case majorArray:
		return fmt.Sprintf("an array of %d elements", h.arg)
	case majorMap:
		return fmt.Sprintf("a map of %d members", h.arg)
	case majorTag:
		return fmt.Sprintf("tag %d", h.arg)
	}

	// Simple values and floats have the same major type (RFC 8949 section 3.3).
	switch h.info {
	case 20:
		return "false"
	case 21:
		return "true"
	case 22:
		return "null"
	case 23:
		return "undefined"
	case infoTwoBytes, infoFourBytes, infoEightBytes:
		if f := h.float(); f == 0 || math.IsNaN(f) || math.IsInf(f, 0) { // which hold nothing
			return fmt.Sprintf("the float %v", f)
		}
		return "a float"
	}

	return fmt.Sprintf("the simple value %d", h.arg)
}

// float returns the value of a head for a float of 16, 32, or 64 bits.
func (h head) float() float64 {
	switch h.info {
	case infoTwoBytes:
		return half(uint16(h.arg))
	case infoFourBytes:
		return float64(math.Float32frombits(uint32(h.arg)))
	}
	return math.Float64frombits(h.arg)
}
