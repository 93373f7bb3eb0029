package replay

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A Level specifies which parts of two receipts must be equal.
type Level int

const (
	// Projection omits the members that a log and a request do not determine: receipt_id, issuer,
	// issued_at, chain, signatures, metadata, subject.id, and task_id, trace_id, and branch_id in
	// identifiers.
	Projection Level = iota

	// Strict omits only the signatures, for replays with a profile that determines the IDs, the
	// issuer, and the clock.
	Strict
)

// without returns the JSON Pointers of the members that a level omits.
func (l Level) without() []string {
	if l == Strict {
		return []string{"/signatures"}
	}
	return []string{
		"/receipt_id", "/issuer", "/issued_at", "/chain", "/signatures", "/metadata", "/subject/id",
		"/identifiers/task_id", "/identifiers/trace_id", "/identifiers/branch_id",
	}
}

// A Difference is a location at which two receipts differ.
type Difference struct {
	Pointer string `json:"pointer"` // RFC 6901
	A       string `json:"a"`       // canonical, cut after 256 bytes; "": absent
	B       string `json:"b"`
}

// Compare returns the differences between two receipts, in the order of the first receipt, or nil
// if the receipts are equal. Both receipts are compared in canonical form (RFC 8785), so the order
// of members and the spelling of numbers and strings do not matter. List elements are paired by
// their IDs or override keys; if the order of the elements differs, the entire list is also
// reported as a difference.
func Compare(a, b *canon.Document, level Level) (list []Difference) {
	for _, d := range differences(a.Root(), b.Root(), level.without()) {
		list = append(list, Difference{d.at, bound(string(canonical(d.a))), bound(string(canonical(d.b)))})
	}
	return list
}

// differences returns the locations at which two values differ, except those at or below the JSON
// Pointers in without.
func differences(a, b canon.Node, without []string) []difference {
	c := comparison{without: without}
	c.nodes("", a, b)
	return c.found
}

// A difference is a location at which two documents differ. A zero node represents an absent value.
type difference struct {
	at   string
	a, b canon.Node
}

// A comparison collects the differences between two documents.
type comparison struct {
	without []string
	found   []difference
}

func (c *comparison) nodes(at string, a, b canon.Node) {
	switch {
	case slices.Contains(c.without, at):
	case a.Kind() == canon.KindObject && b.Kind() == canon.KindObject:
		c.members(at, a, b)
	case a.Kind() == canon.KindArray && b.Kind() == canon.KindArray:
		c.elements(at, a, b)
	case !bytes.Equal(canonical(a), canonical(b)):
		c.found = append(c.found, difference{at, a, b})
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

// elements pairs the elements of two lists that have the same identity, and then pairs the
// remaining elements in order. An element that occurs only in b is identified by its index in b.
func (c *comparison) elements(at string, a, b canon.Node) {
	var right []canon.Node
	places := map[string][]int{}
	for j, n := range b.Elements() {
		right = append(right, n)
		places[identity(n)] = append(places[identity(n)], j)
	}

	var left []canon.Node
	var pairs []int // indexes in b of the partners; -1 if there is no partner
	last, ordered := -1, true
	for _, n := range a.Elements() {
		j := -1
		if of := places[identity(n)]; len(of) > 0 {
			j, places[identity(n)] = of[0], of[1:]
			ordered, last = ordered && j > last, j
		}
		left, pairs = append(left, n), append(pairs, j)
	}

	// Elements that have no partner with the same identity are paired in order.
	rest := slices.Sorted(func(yield func(int) bool) {
		for _, of := range places {
			for _, j := range of {
				if !yield(j) {
					return
				}
			}
		}
	})

	for i, n := range left {
		other := canon.Node{}
		if pairs[i] < 0 && len(rest) > 0 {
			pairs[i], rest = rest[0], rest[1:]
		}
		if pairs[i] >= 0 {
			other = right[pairs[i]]
		}
		c.nodes(indexed(at, i), n, other)
	}
	for _, j := range rest {
		c.nodes(indexed(at, j), canon.Node{}, right[j])
	}
	if !ordered {
		c.found = append(c.found, difference{at, a, b})
	}
}

// identity returns the name and the value of the member that identifies a list element, or "" if
// there is none.
func identity(n canon.Node) string {
	if n.Kind() != canon.KindObject {
		return ""
	}
	for _, name := range [...]string{"override_key", "id", "call_id", "approval_id", "artifact_id", "field"} {
		if m := n.Member(name); m.Kind() == canon.KindString {
			return name + ":" + m.String()
		}
	}
	return ""
}

func indexed(at string, i int) string { return at + "/" + strconv.Itoa(i) }

// bound truncates untrusted text in a finding.
func bound(s string) string { return untrusted.Cut(s, 256) }
