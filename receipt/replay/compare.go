package replay

import (
	"bytes"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// A Level is how much of two receipts has to be equal.
type Level int

const (
	// Projection leaves out what nothing of a log and a request fixes: receipt_id, issuer,
	// issued_at, chain, signatures, metadata, subject.id, and of the identifiers task_id,
	// trace_id and branch_id.
	Projection Level = iota

	// Strict leaves out the signatures alone, for replays whose profile gives ids, issuer
	// and clock.
	Strict
)

// Without returns the JSON Pointers of what a level leaves out.
func (l Level) Without() []string {
	if l == Strict {
		return []string{"/signatures"}
	}
	return []string{
		"/receipt_id", "/issuer", "/issued_at", "/chain", "/signatures", "/metadata", "/subject/id",
		"/identifiers/task_id", "/identifiers/trace_id", "/identifiers/branch_id",
	}
}

// A Difference is a place at which two receipts differ.
type Difference struct {
	Pointer string `json:"pointer"` // RFC 6901
	A       string `json:"a"`       // canonical, cut after 256 bytes; "": it is not there
	B       string `json:"b"`
}

// Compare returns where two receipts differ, in the order of the first; nil when they are
// the same. Both are compared in canonical form (RFC 8785), so that the order of members and
// the spelling of numbers and strings do not count.
func Compare(a, b *canon.Document, level Level) []Difference {
	c := comparison{without: level.Without()}
	c.nodes("", a.Root(), b.Root())
	return c.found
}

// Bytes returns what a level compares, in canonical form.
func Bytes(doc *canon.Document, level Level) []byte {
	var without []canon.Node
	for _, at := range level.Without() {
		p, err := canon.ParsePointer(at)
		if err != nil {
			continue // they are constants, and all are pointers
		}
		if n, ok := doc.Find(p); ok {
			without = append(without, n)
		}
	}
	return doc.AppendCanonical(nil, without...)
}

type comparison struct {
	without []string
	found   []Difference
}

func (c *comparison) nodes(at string, a, b canon.Node) {
	switch {
	case slices.Contains(c.without, at):
		return
	case a.Kind() == canon.KindObject && b.Kind() == canon.KindObject:
		c.members(at, a, b)
		return
	case a.Kind() == canon.KindArray && b.Kind() == canon.KindArray:
		c.elements(at, a, b)
		return
	}

	left, right := canonical(a), canonical(b)
	if !bytes.Equal(left, right) {
		c.found = append(c.found, Difference{at, bound(string(left)), bound(string(right))})
	}
}

func canonical(n canon.Node) []byte {
	if n.IsZero() {
		return nil
	}
	return n.AppendCanonical(nil)
}

func (c *comparison) members(at string, a, b canon.Node) {
	for name, value := range a.Members() {
		c.nodes(string(canon.AppendToken([]byte(at), name.String())), value, b.Member(name.String()))
	}
	for name, value := range b.Members() {
		if a.Member(name.String()).IsZero() {
			c.nodes(string(canon.AppendToken([]byte(at), name.String())), canon.Node{}, value)
		}
	}
}

func (c *comparison) elements(at string, a, b canon.Node) {
	var rest []canon.Node
	for _, n := range b.Elements() {
		rest = append(rest, n)
	}
	n := 0
	for i, left := range a.Elements() {
		right := canon.Node{}
		if n++; i < len(rest) {
			right = rest[i]
		}
		c.nodes(indexed(at, i), left, right)
	}
	for i := n; i < len(rest); i++ {
		c.nodes(indexed(at, i), canon.Node{}, rest[i])
	}
}
