package canon

import (
	"slices"

	"github.com/gowebpki/jcs"
)

// Transform returns the canonical form (RFC 8785) of a JSON text within the default limits. The
// error is a *[SyntaxError].
func Transform(src []byte) ([]byte, error) {
	d, err := Parse(src)
	if err != nil {
		return nil, err
	}
	return d.AppendCanonical(nil), nil
}

// AppendCanonical appends the canonical form (RFC 8785) of the document to dst, omitting the values
// in without. If a member is omitted, its name is omitted, too; if an element is omitted, the array
// is written as if it were shorter. Zero Nodes and nodes of other documents are ignored. Every
// sibling is compared with every omitted node, so without should be short. AppendCanonical grows
// dst by the length of the source, which is sufficient for nearly all documents.
func (d *Document) AppendCanonical(dst []byte, without ...Node) []byte {
	if len(d.nodes) == 0 {
		return dst
	}
	return d.append(slices.Grow(dst, len(d.src)), 0, without)
}

// AppendCanonical appends the canonical form of the value to dst.
func (n Node) AppendCanonical(dst []byte) []byte {
	if n.doc == nil {
		return dst
	}
	return n.doc.append(slices.Grow(dst, len(n.Raw())), n.at, nil)
}

// Digest returns the SHA-256 digest of the bytes that AppendCanonical appends.
func (d *Document) Digest(without ...Node) Digest {
	if len(d.nodes) > 0 && d.nodes[0].flags&flagClean != 0 && !d.within(0, without) {
		return Sum(d.Root().Raw())
	}

	// A call that takes the buffer has exclusive use of it. Concurrent calls find no buffer, so
	// they allocate their own. The buffer of the call that finishes last is kept.
	buf := d.canonical.Swap(nil)
	if buf == nil {
		buf = new([]byte)
	}
	*buf = d.AppendCanonical((*buf)[:0], without...)
	sum := Sum(*buf)
	d.canonical.Store(buf)
	return sum
}

// IsCanonical reports whether the source is already in canonical form, byte for byte.
func (d *Document) IsCanonical() bool {
	return len(d.nodes) > 0 && d.nodes[0].flags&flagClean != 0 && len(d.Root().Raw()) == len(d.src)
}

func (d *Document) append(dst []byte, at uint32, without []Node) []byte {
	if !d.within(at, without) {
		without = nil
	}

	// A clean subtree without omissions is copied in one step.
	n := &d.nodes[at]
	if n.flags&flagClean != 0 && without == nil {
		return append(dst, d.src[n.start:n.end]...)
	}

	switch n.kind {
	case KindObject:
		return d.appendObject(dst, at, without)
	case KindArray:
		return d.appendArray(dst, at, without)
	case KindString:
		return AppendString(dst, d.text(at))
	default: // literals are always clean
		return AppendFloat(dst, Node{d, at}.Float())
	}
}

func (d *Document) appendObject(dst []byte, at uint32, without []Node) []byte {
	n := &d.nodes[at]
	dst = append(dst, '{')
	begin := len(dst)

	// Members are sorted as RFC 8785 section 3.2.3 requires. If an object has no entry in d.order,
	// its members are already sorted.
	if n.aux != none {
		first := n.aux + 1
		for _, name := range d.order[first : first+d.order[n.aux]] {
			dst = d.appendMember(dst, begin, name, without)
		}
	} else {
		for name := at + 1; name < n.next; name = d.nodes[name+1].next {
			dst = d.appendMember(dst, begin, name, without)
		}
	}

	return append(dst, '}')
}

func (d *Document) appendMember(dst []byte, begin int, name uint32, without []Node) []byte {
	if d.among(name+1, without) {
		return dst
	}
	if len(dst) > begin {
		dst = append(dst, ',')
	}
	dst = d.append(dst, name, nil)
	return d.append(append(dst, ':'), name+1, without)
}

func (d *Document) appendArray(dst []byte, at uint32, without []Node) []byte {
	dst = append(dst, '[')
	begin := len(dst)
	for e := at + 1; e < d.nodes[at].next; e = d.nodes[e].next {
		if d.among(e, without) {
			continue
		}
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		dst = d.append(dst, e, without)
	}
	return append(dst, ']')
}

// within reports whether any of the nodes is a descendant of the node at index at.
func (d *Document) within(at uint32, nodes []Node) bool {
	for _, n := range nodes {
		if n.doc == d && at < n.at && n.at < d.nodes[at].next {
			return true
		}
	}
	return false
}

func (d *Document) among(at uint32, nodes []Node) bool {
	for _, n := range nodes {
		if n.doc == d && n.at == at {
			return true
		}
	}
	return false
}

// Reference returns the RFC 8785 form of src as computed by gowebpki/jcs, without using any of this
// package's code. If both functions accept an input, the result is the same as that of [Transform].
// Tests verify this for every vector and by fuzzing.
func Reference(src []byte) ([]byte, error) { return jcs.Transform(src) }
