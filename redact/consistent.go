package redact

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// Consistent checks that the receipt could have contained all of the disclosed values. At the
// location of each value, the receipt must have no member, an empty value, a placeholder, or text
// that can result from redacting the value. If an ancestor of the value was also disclosed, the
// ancestor must contain the value at that location, or the result of an earlier redaction of the
// value. Consistent assumes that the values match their commitments; see [Disclosures.Check].
//
// The error is a *[DisclosureError].
func Consistent(receipt *canon.Document, shown []Disclosure) error {
	values := map[string]*ancestor{}
	for _, f := range shown {
		if lossy(f.Value) {
			return imprecise(f.Field)
		}
		if before := values[f.Field]; before != nil && !bytes.Equal(before.value, f.Value) {
			return contradictory(f.Field, "two values were disclosed for the field; the receipt commits to both, and only one can have been withheld")
		}
		values[f.Field] = &ancestor{value: f.Value}
	}

	// Each value is compared with the receipt at its location, and with the disclosed values that
	// contain it.
	shape := receiptShape()
	for _, f := range shown {
		ptr, err := canon.ParsePointer(f.Field)
		if err != nil {
			return contradictory(f.Field, "the field is not a JSON Pointer")
		}
		tokens := ptr.Tokens()
		if err := placed(receipt.Root(), shape, f, tokens); err != nil {
			return err
		}
		for i := 1; i < len(tokens); i++ {
			above := values[pointerOf(tokens[:i])]
			if above != nil && !above.holds(f, tokens, i, shape) {
				return contradictory(f.Field, fmt.Sprintf("it is not what the value disclosed for %+.200q holds there", pointerOf(tokens[:i])))
			}
		}
	}
	return nil
}

// placed checks the location of a disclosed value in the receipt. If the location belongs to a
// protected member, which is always present, the disclosed value must be equal to the value in the
// receipt.
func placed(receipt canon.Node, root *shape, f Disclosure, tokens []string) error {
	n, led := descend(receipt, tokens, root)
	s := root.find(tokens)
	switch {
	case led == wayBroken && !isNothing(n):
		return contradictory(f.Field, "the receipt has a value above it without such a member or element")
	case led != wayFound || hollow(n) || leaves(n, f.Value):
		return nil
	case s != nil && s.protected && bytes.Equal(n.AppendCanonical(nil), f.Value):
		return nil
	}
	return contradictory(f.Field, "the receipt has a value in its place that redaction cannot leave of it")
}

// An ancestor is a disclosed value that may contain other disclosed values.
type ancestor struct {
	value []byte
	doc   *canon.Document
}

// holds reports whether the ancestor is consistent with the disclosed value. The argument own is
// the number of tokens in the pointer to the ancestor. At the location of the disclosed value, the
// ancestor must contain that value or a possible result of redacting it.
func (a *ancestor) holds(f Disclosure, tokens []string, own int, root *shape) bool {
	if a.doc == nil {
		a.doc = new(canon.Document)
		if a.doc.Parse(a.value, canon.Limits{Depth: anyDepth}) != nil {
			return false
		}
	}

	s := root.find(tokens)
	n, led := descend(a.doc.Root(), tokens[own:], root.find(tokens[:own]))
	switch led {
	case wayBroken:
		return false
	case wayHidden:
		return true
	case wayAbsent: // a withheld member is removed if it is optional and cannot be a placeholder
		return s != nil && s.form == formDrop
	}
	return bytes.Equal(n.AppendCanonical(nil), f.Value) || emptied(n, s) || leaves(n, f.Value)
}

// leaves reports whether n can be the result of redacting a disclosed value: a placeholder, or text
// from which parts were withheld.
func leaves(n canon.Node, value []byte) bool {
	switch {
	case n.Kind() != canon.KindString:
		return false
	case masked(n.Text()):
		return true
	}
	doc := new(canon.Document)
	if doc.Parse(value, canon.Limits{Depth: anyDepth}) != nil || doc.Root().Kind() != canon.KindString {
		return false
	}
	// Unchanged text is not the result of a redaction.
	whole := doc.Root().Text()
	return !bytes.Equal(n.Text(), whole) && isRemnant(n.Text(), whole)
}

// emptied reports whether a value is the replacement for a withheld value at a location that cannot
// have a placeholder.
func emptied(n canon.Node, s *shape) bool {
	return s != nil && s.form == formLiteral && string(n.AppendCanonical(nil)) == s.literal
}

// A way describes the result of following the tokens of a pointer.
type way int

const (
	wayFound  way = iota // to a value
	wayAbsent            // the object does not have the member
	wayHidden            // a value on the way to the last token was withheld
	wayBroken            // no original document can have had this member or element
)

// descend follows the tokens as far as possible, starting at a value with the given shape.
func descend(n canon.Node, tokens []string, s *shape) (canon.Node, way) {
	for i, token := range tokens {
		index := n.Kind() == canon.KindArray
		switch {
		case n.Kind() == canon.KindString && masked(n.Text()):
			return n, wayHidden
		case index && !isIndex(token):
			return n, wayBroken
		case i > 0 && emptied(n, s):
			return n, wayHidden
		case n.Kind() != canon.KindObject && !index:
			return n, wayBroken
		}

		// Redaction can remove a member, but never an element.
		child := childOf(n, token)
		switch {
		case child.IsZero() && index:
			return n, wayBroken
		case child.IsZero():
			return n, wayAbsent
		}
		n, s = child, s.child(token)
	}
	return n, wayFound
}

// isIndex reports whether a token can be the index of an element (RFC 6901 section 4).
func isIndex(token string) bool {
	i, err := strconv.Atoi(token)
	return err == nil && i >= 0 && strconv.Itoa(i) == token
}

// childOf returns the member or element that a token refers to.
func childOf(n canon.Node, token string) canon.Node {
	if n.Kind() == canon.KindObject {
		return n.Member(token)
	}
	for i, e := range n.Elements() {
		if strconv.Itoa(i) == token {
			return e
		}
	}
	return canon.Node{}
}

// isNothing reports whether a value is null or an empty string, which other programs use to replace
// a withheld value.
func isNothing(n canon.Node) bool {
	return n.Kind() == canon.KindNull || n.Kind() == canon.KindString && len(n.Text()) == 0
}

// hollow reports whether a value has no content, that is, whether it is null, an empty string, a
// placeholder, or a list or object in which no value has content.
func hollow(n canon.Node) bool {
	switch n.Kind() {
	case canon.KindNull, canon.KindString:
		return isNothing(n) || masked(n.Text())
	case canon.KindArray:
		for _, e := range n.Elements() {
			if !hollow(e) {
				return false
			}
		}
		return true
	case canon.KindObject:
		for _, v := range n.Members() {
			if !hollow(v) {
				return false
			}
		}
		return true
	}
	return false
}

func pointerOf(tokens []string) string {
	var b []byte
	for _, t := range tokens {
		b = canon.AppendToken(b, t)
	}
	return string(b)
}
