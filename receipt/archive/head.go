package archive

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The major types (RFC 8949 section 3.1).
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

// Additional information (RFC 8949 sections 3, 3.2, and 3.3): values up to 23 are the argument
// itself, and the values 24 to 27 mean that 1, 2, 4, or 8 bytes of argument follow.
const (
	infoOneByte    = 24
	infoTwoBytes   = 25
	infoFourBytes  = 26
	infoEightBytes = 27
	infoIndefinite = 31 // or, as a simple value, the break after such an item
)

// A head is the beginning of a data item: a byte with the major type and additional
// information, followed by the argument (RFC 8949 section 3).
type head struct {
	major, info byte
	arg         uint64
	size        int // length of the head, in bytes
}

// readHead returns the head at the start of b. It returns false if b ends within the head.
func readHead(b []byte) (h head, whole bool) {
	if len(b) == 0 {
		return head{}, false
	}

	// RFC 8949 section 3: additional information up to 23 is the argument itself. With 28 to 31,
	// there is no argument.
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

// malformed describes why a head is invalid regardless of its position (RFC 8949 appendix F), or
// returns empty strings.
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

// indefinite distinguishes indefinite lengths, which are well formed, from malformed items with
// the same additional information (RFC 8949 section 3.2).
func (h head) indefinite() (code, found string) {
	switch h.major {
	case majorBytes, majorText, majorArray, majorMap:
		return codeNonDeterministic, "one of indefinite length"
	case majorSimple:
		return codeSyntax, "a break outside of an item of indefinite length"
	}
	return codeSyntax, "an integer or tag of indefinite length"
}

// shortest reports whether the argument has the shortest form (RFC 8949 section 4.2.1). The
// argument of a float is its value, regardless of its size.
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

// String describes, for a message, the item that begins with the head.
func (h head) String() string {
	switch h.major {
	case majorUnsigned: // without the value, which may be a misplaced secret
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

	// RFC 8949 section 3.3: simple values and floats share a major type.
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

// float returns the value of a head that is a float of 16, 32, or 64 bits.
func (h head) float() float64 {
	switch h.info {
	case infoTwoBytes:
		return half(uint16(h.arg))
	case infoFourBytes:
		return float64(math.Float32frombits(uint32(h.arg)))
	}
	return math.Float64frombits(h.arg)
}
