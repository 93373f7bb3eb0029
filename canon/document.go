package canon

import (
	"math"
	"sync/atomic"
)

// Default limits of a document.
const (
	MaxBytes = 16 << 20 // bytes of source
	MaxDepth = 1000     // nested arrays and objects; a scalar has depth 0, [] has depth 1
)

// maxBytes is the largest limit that can be asked for: what nodes can index, and
// an int can count on a 32-bit system.
const maxBytes = (math.MaxUint32 - 1) & math.MaxInt

// maxDepth is the deepest limit that can be asked for, the one of encoding/json
// and of jcs; it bounds the recursion of AppendCanonical.
const maxDepth = 10_000

// Limits bound what is parsed. A zero field means the default. Bytes are at
// most 4 GiB − 1 and Depth is at most 10,000; larger values mean these.
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

// A Document is an index over one JSON text, made by one parse. Everything else
// (hashing, look-up, schema checks, decoding) reads the index, so that no two
// readers can see different documents.
//
// A Document keeps the source that it was given, which must not change while it
// is in use; only the content of a string value may be overwritten, by as many
// bytes, when neither the old bytes nor the new ones need an escape. Parse reuses
// its memory: the index takes at most about ten bytes for each byte of the longest
// source, for ordinary documents two. All methods except Parse are safe for
// concurrent use. A Document must not be copied.
type Document struct {
	src   []byte
	nodes []node   // every value and member name, in source order
	order []uint32 // of each object with unsorted members: their number, then their names by rank
	spans []span   // the unescaped strings, as places in unescaped
	depth int
	lossy uint32 // first integer that a double cannot tell from its neighbours

	unescaped []byte
	names     []rankedName           // of the object being sorted
	canonical atomic.Pointer[[]byte] // buffer of Digest; nil while a call uses it
}

// A node is one value or member name. The members of an object follow it as
// pairs of nodes, name and value; the elements of an array one after another.
type node struct {
	start, end uint32 // source span
	next       uint32 // the node after this one's subtree; while a container is open, its parent
	aux        uint32 // string: its span; object: its place in order; while open: its latest name
	kind       Kind
	flags      uint8
}

const (
	flagClean  = 1 << iota // the source span is the canonical form
	flagSorted             // the members are in canonical order
)

// none is the index of no node, span or order.
const none = math.MaxUint32

type span struct{ start, end uint32 }

// Parse parses one JSON text within the default limits.
func Parse(src []byte) (*Document, error) {
	d := new(Document)
	if err := d.Parse(src, Limits{}); err != nil {
		return nil, err
	}
	return d, nil
}

// Parse parses one JSON text into d and forgets what d held. On error, a
// *[SyntaxError], d is empty.
func (d *Document) Parse(src []byte, limits Limits) error {
	src = src[:len(src):len(src)] // what lies after it is the caller's, and may change
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

// Root returns the value of the document, the zero Node when d is empty.
func (d *Document) Root() Node {
	if len(d.nodes) == 0 {
		return Node{}
	}
	return Node{d, 0}
}

// Source returns the bytes that were parsed, white space around the value
// included.
func (d *Document) Source() []byte { return d.src }

// Depth returns how deep arrays and objects are nested: 0 for a scalar.
func (d *Document) Depth() int { return d.depth }

// LossyInteger returns the first number, in source order, whose IEEE-754 value
// is integral and outside ±(2^53−1), however it is spelled: 9007199254740993
// and 1e300 alike. Other integers near such a double are written differently and
// hash the same (RFC 7493 section 2.2).
func (d *Document) LossyInteger() (Node, bool) {
	if len(d.nodes) == 0 || d.lossy == none {
		return Node{}, false
	}
	return Node{d, d.lossy}, true
}

// text returns the unescaped content of the string node at.
func (d *Document) text(at uint32) []byte {
	n := &d.nodes[at]
	if n.aux == none {
		return d.src[n.start+1 : n.end-1]
	}
	s := d.spans[n.aux]
	return d.unescaped[s.start:s.end]
}

// Find returns the value that p names (RFC 6901 section 4). It reports false when
// there is none.
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

// push appends a node to be filled in place, field by field. A composite
// literal would be built on the stack in small stores and moved by large loads,
// which stalls the processor for a fifth of the parse.
func (d *Document) push() *node {
	d.nodes = append(d.nodes, node{})
	return &d.nodes[len(d.nodes)-1]
}
