package archive

import (
	"bytes"
	"math"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/receiptkit/receiptkit/canon"
)

// An encoder encodes the values in a document. The CBOR library writes all heads, numbers, and
// literals, in its core deterministic mode. The encoder only sorts keys, and determines whether a
// length is a number of bytes, elements, or members.
//
// The library can also write entire trees, but this would be slower. Building a tree of Go values
// takes several times as long and, for large receipts, requires hundreds of megabytes of memory. To
// sort a map, the library also copies each value once for every level above it.
type encoder struct {
	buf  bytes.Buffer
	mode cbor.UserBufferEncMode

	members []member // members of the objects that are currently being encoded

	// Scalars are passed as pointers, because storing a pointer in an interface allocates no
	// memory.
	count   uint64
	integer int64
	number  float64
	truth   bool
}

// A member is a member of an object, with its decoded name.
type member struct {
	key         []byte
	name, value canon.Node
}

func (e *encoder) value(n canon.Node) error {
	switch n.Kind() {
	case canon.KindBool:
		e.truth = n.Bool()
		return e.mode.MarshalToBuffer(&e.truth, &e.buf)
	case canon.KindNumber:
		return e.float(n.Float())
	case canon.KindString:
		return e.string(n.Text())
	case canon.KindArray:
		return e.array(n)
	case canon.KindObject:
		return e.object(n)
	}
	return e.mode.MarshalToBuffer(nil, &e.buf)
}

// float writes integral values as integers and -0 as 0. The caller must have checked that no value
// is outside ±(2^53−1).
func (e *encoder) float(f float64) error {
	if f == math.Trunc(f) {
		e.integer = int64(f)
		return e.mode.MarshalToBuffer(&e.integer, &e.buf)
	}
	e.number = f
	return e.mode.MarshalToBuffer(&e.number, &e.buf)
}

// head writes the head of a string, an array, or a map. It writes count as an integer, and then
// replaces the major type, which is 0 (RFC 8949 section 3).
func (e *encoder) head(major byte, count int) error {
	at := e.buf.Len()
	e.count = uint64(count)
	err := e.mode.MarshalToBuffer(&e.count, &e.buf)
	if err == nil {
		e.buf.Bytes()[at] |= major << 5
	}
	return err
}

func (e *encoder) string(text []byte) error {
	if err := e.head(majorText, len(text)); err != nil {
		return err
	}
	_, err := e.buf.Write(text)
	return err
}

func (e *encoder) array(n canon.Node) error {
	if err := e.head(majorArray, n.Len()); err != nil {
		return err
	}
	for _, element := range n.Elements() {
		if err := e.value(element); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) object(n canon.Node) error {
	// The members are on a stack, because objects inside a member are encoded before the next
	// member.
	begin := len(e.members)
	defer func() { e.members = e.members[:begin] }()
	e.members = slices.Grow(e.members, n.Len())
	for name, value := range n.Members() {
		e.members = append(e.members, member{name.Text(), name, value})
	}

	// Keys are sorted by the bytes of their encodings (RFC 8949 section 4.2.1).
	members := e.members[begin:]
	slices.SortFunc(members, func(a, b member) int { return compareKeys(a.key, b.key) })

	if err := e.head(majorMap, len(members)); err != nil {
		return err
	}
	for _, m := range members {
		if err := e.string(m.key); err != nil {
			return err
		}
		if err := e.value(m.value); err != nil {
			return err
		}
	}

	return nil
}

// half returns the value of an IEEE 754 binary16 number, which has a sign bit, five bits of
// exponent, and ten bits of fraction (RFC 8949 appendix D).
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&(1<<10-1))

	// Numbers with exponent 0 (zero and subnormal numbers) have no leading one, and all others have
	// one. Exponent 31 means infinity or NaN.
	var f float64
	switch exponent {
	case 0:
		f = math.Ldexp(fraction, -24)
	case 31:
		if f = math.Inf(1); fraction != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(1<<10+fraction, exponent-25)
	}

	if bits>>15 != 0 {
		return -f
	}
	return f
}
