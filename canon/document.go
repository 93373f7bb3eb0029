package canon

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"
)

// These are the default limits on a document.
const (
	MaxBytes = 16 << 20 // bytes of source
	MaxDepth = 1000     // nested arrays and objects; a scalar has depth 0, and [] has depth 1
)

// maxBytes is the highest possible size limit: the number of bytes that a node can address and that
// an int can represent, even on a 32-bit system.
const maxBytes = (math.MaxUint32 - 1) & math.MaxInt

// maxDepth is the highest possible depth limit, which is the same as in encoding/json and jcs. It
// limits the recursion of AppendCanonical.
const maxDepth = 10_000

// Limits specifies the maximum size and the maximum nesting depth of input. If a field is zero, its
// default applies. The highest possible values are 4 GiB − 1 for Bytes and 10,000 for Depth. A
// higher value has the same effect as the highest possible value.
type Limits struct {
	Bytes int // of source
	Depth int // nested arrays and objects
}

func (l Limits) resolved() Limits {
	if l.Bytes <= 0 {
		l.Bytes = MaxBytes
	}
	if l.Depth <= 0 {
		l.Depth = MaxDepth
	}
	return Limits{Bytes: min(l.Bytes, maxBytes), Depth: min(l.Depth, maxDepth)}
}

// A Document is an index of one JSON text, which is built in a single pass. Hashing, lookup, schema
// checks, and decoding all use this index, so that they see the same document.
//
// A Document retains its source. The source must not change while the Document is in use, with one
// exception: the content of a string value may be overwritten with the same number of bytes if
// neither the old nor the new bytes require escapes. Parse reuses the memory of the Document. The
// index of an ordinary document takes about two bytes per byte of the longest source that has been
// parsed, and never more than about ten bytes per byte. All methods except Parse are safe for
// concurrent use. A Document must not be copied.
type Document struct {
	src   []byte
	nodes []node   // all values and member names, in source order
	order []uint32 // for each object with unsorted members: the number of members, followed by their names in sorted order
	spans []span   // spans of the strings within unescaped
	depth int
	lossy uint32 // index of the first integer that a double cannot distinguish from its neighbors

	unescaped []byte
	names     []rankedName           // member names of the object that is being sorted
	canonical atomic.Pointer[[]byte] // the buffer for Digest; nil while a call uses it
}

// A node is a value or a member name. An object is followed by its members as pairs of nodes, name
// and value; an array is followed by its elements.
type node struct {
	start, end uint32 // source span
	next       uint32 // the node after this node and its descendants; while a container is open, its parent
	aux        uint32 // for a string: its span; for an object: the position of its names in order or, while open, its most recent name
	kind       Kind
	flags      uint8
}

const (
	flagClean  = 1 << iota // the source of the value is canonical
	flagSorted             // the members are sorted
)

// none is a value that is never a valid index of a node, a span, or an entry in order.
const none = math.MaxUint32

type span struct{ start, end uint32 }

// Parse parses a JSON text within the default limits. The error is a *[SyntaxError].
func Parse(src []byte) (*Document, error) {
	d := new(Document)
	if err := d.Parse(src, Limits{}); err != nil {
		return nil, err
	}
	return d, nil
}

// Parse parses a JSON text into d and discards the previous content. The error is a *[SyntaxError].
// If Parse returns an error, d is empty.
func (d *Document) Parse(src []byte, limits Limits) error {
	src = src[:len(src):len(src)] // the caller owns the following bytes and may change them
	d.reset(src)
	p := parser{Document: d, src: src, limits: limits.resolved(), open: none}
	err := p.document()
	if err != nil {
		d.reset(nil)
	}
	return err
}

func (d *Document) reset(src []byte) {
	d.src, d.depth, d.lossy = src, 0, none
	d.nodes, d.order, d.spans, d.unescaped = d.nodes[:0], d.order[:0], d.spans[:0], d.unescaped[:0]
}

// Root returns the value of the document, or the zero Node if d is empty.
func (d *Document) Root() Node {
	if len(d.nodes) == 0 {
		return Node{}
	}
	return Node{d, 0}
}

// Source returns the bytes that were parsed, including whitespace around the value.
func (d *Document) Source() []byte { return d.src }

// MarshalJSON returns a copy of the source. It returns an error if the Document is empty.
func (d *Document) MarshalJSON() ([]byte, error) {
	if len(d.nodes) == 0 {
		return nil, errors.New("canon: the document is empty")
	}
	return slices.Clone(d.src), nil
}

// Depth returns the nesting depth of arrays and objects. A scalar has depth 0.
func (d *Document) Depth() int { return d.depth }

// LossyInteger returns the first number, in source order, whose IEEE-754 value is integral and
// outside ±(2^53−1). The spelling of the number does not matter: both 9007199254740993 and 1e300
// are such numbers. Such an integer and its neighbors are written differently but have the same
// canonical form (RFC 7493 section 2.2).
func (d *Document) LossyInteger() (Node, bool) {
	if len(d.nodes) == 0 || d.lossy == none {
		return Node{}, false
	}
	return Node{d, d.lossy}, true
}

// text returns the unescaped content of the string node at index at.
func (d *Document) text(at uint32) []byte {
	n := &d.nodes[at]
	if n.aux == none {
		return d.src[n.start+1 : n.end-1]
	}
	s := d.spans[n.aux]
	return d.unescaped[s.start:s.end]
}

// Find returns the value at p (RFC 6901 section 4) and reports whether it exists.
func (d *Document) Find(p Pointer) (Node, bool) {
	n := d.Root()
	for _, token := range p.tokens {
		switch n.Kind() {
		case KindObject:
			n = n.Member(token)
		case KindArray:
			n = n.element(token)
		default:
			return Node{}, false
		}
	}
	return n, !n.IsZero()
}

// push appends a node, whose fields the caller sets one by one. A composite literal would be
// created on the stack with small stores and moved with large loads; the resulting stalls would
// take a fifth of the parsing time.
func (d *Document) push() *node {
	d.nodes = append(d.nodes, node{})
	return &d.nodes[len(d.nodes)-1]
}
