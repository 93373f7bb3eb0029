package canon

import (
	"iter"
	"slices"
	"strconv"
)

// A Kind is the type of a JSON value.
type Kind uint8

const (
	KindInvalid Kind = iota // the kind of the zero Node
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// A Node is one value of a Document. A Node is valid until its Document parses another text. The
// zero Node represents an absent value. Its methods then return zero values, so that lookups can be
// chained.
type Node struct {
	doc *Document
	at  uint32
}

func (n Node) node() *node { return &n.doc.nodes[n.at] }

// IsZero reports whether n represents an absent value.
func (n Node) IsZero() bool { return n.doc == nil }

// Kind returns the type of the value.
func (n Node) Kind() Kind {
	if n.doc == nil {
		return KindInvalid
	}
	return n.node().kind
}

// Raw returns the source text of the value, without surrounding whitespace. The result aliases
// the source.
func (n Node) Raw() []byte {
	if n.doc == nil {
		return nil
	}
	return slices.Clip(n.doc.src[n.node().start:n.node().end])
}

// Offset returns the position of the value in the source, in bytes from 0.
func (n Node) Offset() int {
	if n.doc == nil {
		return 0
	}
	return int(n.node().start)
}

// Bool returns the value of a boolean, or false for other kinds.
func (n Node) Bool() bool {
	return n.Kind() == KindBool && n.doc.src[n.node().start] == 't'
}

// Float returns the value of a number as an IEEE-754 double, or 0 for other kinds.
func (n Node) Float() float64 {
	if n.Kind() != KindNumber {
		return 0
	}
	f, _ := strconv.ParseFloat(string(n.Raw()), 64) // no error is possible, because the parser has accepted the number
	return f
}

// Text returns the unescaped content of a string, or nil for other kinds. The result aliases the
// Document.
func (n Node) Text() []byte {
	if n.Kind() != KindString {
		return nil
	}
	return slices.Clip(n.doc.text(n.at)) // appending to the result copies it
}

// String returns the unescaped content of a string, or "" for other kinds.
func (n Node) String() string { return string(n.Text()) }

// Len returns the number of members of an object or elements of an array.
func (n Node) Len() int {
	count := 0
	switch n.Kind() {
	case KindObject:
		for range n.Members() {
			count++
		}
	case KindArray:
		for range n.Elements() {
			count++
		}
	}
	return count
}

// Member returns the value of the named member. It returns the zero Node if there is no member with
// that name or if n is not an object.
func (n Node) Member(name string) Node {
	if n.Kind() != KindObject {
		return Node{}
	}
	nodes := n.doc.nodes
	quoted := uint32(len(name) + len(`""`))

	for at, end := n.at+1, nodes[n.at].next; at < end; at = nodes[at+1].next {
		// Most names have no escapes and differ from the given name in length, so they are skipped
		// quickly.
		if m := &nodes[at]; m.aux == none && m.end-m.start != quoted {
			continue
		}
		if string(n.doc.text(at)) == name {
			return Node{n.doc, at + 1}
		}
	}

	return Node{}
}

// Members yields the name (a string) and the value of each member of an object, in source
// order.
func (n Node) Members() iter.Seq2[Node, Node] {
	return func(yield func(Node, Node) bool) {
		if n.Kind() != KindObject {
			return
		}
		nodes := n.doc.nodes
		for at, end := n.at+1, nodes[n.at].next; at < end; at = nodes[at+1].next {
			if !yield(Node{n.doc, at}, Node{n.doc, at + 1}) {
				return
			}
		}
	}
}

// Elements yields the index and the value of each element of an array.
func (n Node) Elements() iter.Seq2[int, Node] {
	return func(yield func(int, Node) bool) {
		if n.Kind() != KindArray {
			return
		}
		nodes, i := n.doc.nodes, 0
		for at, end := n.at+1, nodes[n.at].next; at < end; at = nodes[at].next {
			if !yield(i, Node{n.doc, at}) {
				return
			}
			i++
		}
	}
}

// Pointer returns the RFC 6901 pointer to the value. It searches from the root, so it is intended
// only for messages.
func (n Node) Pointer() string {
	if n.doc == nil {
		return ""
	}

	// Nodes are in source order, so the child that contains n is the first child whose descendants
	// end after n.
	var b []byte
	at := n.doc.Root()
	for at.at != n.at {
		var child Node
		switch at.Kind() {
		case KindObject:
			for name, value := range at.Members() {
				if n.at < value.node().next {
					b, child = AppendToken(b, name.String()), value
					break
				}
			}
		case KindArray:
			for i, value := range at.Elements() {
				if n.at < value.node().next {
					b, child = strconv.AppendInt(append(b, '/'), int64(i), 10), value
					break
				}
			}
		}

		if child.IsZero() || child.at > n.at { // n is the name of a member; a name has the same pointer as its member
			return string(b)
		}
		at = child
	}

	return string(b)
}
