package archive

import (
	"bytes"
	"math"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/receiptkit/receiptkit/canon"
)

// An encoder writes the values of a document. The CBOR library writes every head, number, and
// literal, in its core deterministic mode. The encoder only determines the order of keys, and
// whether a count refers to bytes, elements, or members.
//
// The library could also write entire trees, but that would be slower. Building a tree of Go values
// takes several times as long and, for large receipts, hundreds of megabytes. To sort a map, the
// library also copies each value once per enclosing level.
type encoder struct {
	buf  bytes.Buffer
	mode cbor.UserBufferEncMode

	members []member // the members of objects that are being written

	// Scalars are passed by address, because converting a pointer to an interface allocates no
	// memory.
	count   uint64
	integer int64
	number  float64
	truth   bool
}

// A member is a member of an object, with the text of its name.
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

// float writes integral values as integers, and -0 as 0. The caller has checked that no value is
// outside ±(2^53−1).
func (e *encoder) float(f float64) error {
	if f == math.Trunc(f) {
		e.integer = int64(f)
		return e.mode.MarshalToBuffer(&e.integer, &e.buf)
	}
	e.number = f
	return e.mode.MarshalToBuffer(&e.number, &e.buf)
}

// head writes the head of a text, array, or map. It writes the head for the integer count and then
// replaces major type 0 (RFC 8949 section 3).
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
	// The members are on a stack, because nested objects are written before the next member.
	begin := len(e.members)
	defer func() { e.members = e.members[:begin] }()
	e.members = slices.Grow(e.members, n.Len())
	for name, value := range n.Members() {
		e.members = append(e.members, member{name.Text(), name, value})
	}

	// RFC 8949 section 4.2.1: keys in the bytewise order of their encodings.
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

// half returns the value of an IEEE 754 binary16 number, which has a sign bit, five exponent bits,
// and ten fraction bits (RFC 8949 appendix D).
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&(1<<10-1))

	// Exponent 0 (zero and subnormals) has no leading one, and all other exponents have one.
	// Exponent 31 is infinity or NaN.
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
