package redact

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A ContradictionError says that a disclosed value fits its commitment, but not the rest of
// the receipt or another disclosed value. It quotes neither.
type ContradictionError struct {
	Field  string
	Detail string
}

// Code returns CodeMismatch.
func (e *ContradictionError) Code() Code { return CodeMismatch }

// Error gives the field and the detail.
func (e *ContradictionError) Error() string {
	return fmt.Sprintf("redact: the value disclosed for %+.200q contradicts the receipt: %s", e.Field, e.Detail)
}

// Consistent checks that disclosed values of a receipt can all have been in it. The place of
// each must be absent, empty, or a placeholder, and a value must be what the value disclosed
// for an ancestor holds in its place. That is a placeholder if the draft was redacted more
// than once. The values must fit their commitments: see [Disclosures.Check].
//
// The error is a *[ContradictionError] or a *[PrecisionError].
func Consistent(receipt *canon.Document, shown []Disclosure) error {
	values := map[string]*ancestor{}
	for _, f := range shown {
		if lossy(f.Value) {
			return &PrecisionError{f.Field}
		}
		if before := values[f.Field]; before != nil && !bytes.Equal(before.value, f.Value) {
			return &ContradictionError{f.Field, "two values were disclosed for the field; the receipt commits to both, and only one can have been withheld"}
		}
		values[f.Field] = &ancestor{value: f.Value}
	}

	shape := receiptShape()
	for _, f := range shown {
		ptr, err := canon.ParsePointer(f.Field)
		if err != nil {
			return &ContradictionError{f.Field, "the field is no JSON Pointer"}
		}
		tokens := ptr.Tokens()
		if err := placed(receipt.Root(), shape.find(tokens), f, tokens); err != nil {
			return err
		}
		for i := 1; i < len(tokens); i++ {
			above := values[pointerOf(tokens[:i])]
			if above != nil && !above.holds(f, tokens, i, shape) {
				return &ContradictionError{f.Field, fmt.Sprintf("it is not what the value disclosed for %+.200q holds there", pointerOf(tokens[:i]))}
			}
		}
	}
	return nil
}

// placed checks the place of a disclosed value in the receipt. A protected member is always
// there, so a value of it may be disclosed, but no other than it has.
func placed(root canon.Node, s *shape, f Disclosure, tokens []string) error {
	n, hidden := descend(root, tokens, nil)
	switch {
	case hidden || n.IsZero() || hollow(n) || cleanedURL(n, f.Value):
		return nil
	case s != nil && s.protected && bytes.Equal(n.AppendCanonical(nil), f.Value):
		return nil
	}
	return &ContradictionError{f.Field, "the receipt holds a value in its place, so that none was withheld there"}
}

// An ancestor is a disclosed value in which others may lie.
type ancestor struct {
	value []byte
	doc   *canon.Document
}

// holds reports whether the value, which is that of the first tokens, has a disclosed one at
// its place below, or what redaction leaves there.
func (a *ancestor) holds(f Disclosure, tokens []string, own int, root *shape) bool {
	if a.doc == nil {
		a.doc = new(canon.Document)
		if a.doc.Parse(a.value, canon.Limits{Depth: anyDepth}) != nil {
			return false
		}
	}

	s := root.find(tokens)
	n, hidden := descend(a.doc.Root(), tokens[own:], root.find(tokens[:own]))
	switch {
	case hidden:
		return true
	case n.IsZero(): // an optional member that takes no placeholder is removed
		return s != nil && s.form == formDrop
	case n.Kind() == canon.KindString && masked(n.Text()):
		return true
	}
	return bytes.Equal(n.AppendCanonical(nil), f.Value) || emptied(n, s) || cleanedURL(n, f.Value)
}

// cleanedURL reports whether a text may be what is left of a disclosed one after the user
// information or parameters of its URLs were removed, which leaves no placeholder: it has a
// URL, and nothing that the disclosed text does not have, in the same order.
func cleanedURL(n canon.Node, value []byte) bool {
	if n.Kind() != canon.KindString || !hasSlashes(n.Text()) {
		return false
	}
	doc := new(canon.Document)
	if doc.Parse(value, canon.Limits{Depth: anyDepth}) != nil || doc.Root().Kind() != canon.KindString {
		return false
	}
	left, whole := n.Text(), doc.Root().Text()
	if len(left) >= len(whole) {
		return false
	}
	for _, c := range whole {
		if len(left) > 0 && left[0] == c {
			left = left[1:]
		}
	}
	return len(left) == 0
}

// hasSlashes reports whether a text has the two slashes of a URL, in any of the spellings in
// which redaction recognizes them.
func hasSlashes(text []byte) bool {
	for _, slashes := range []string{"//", `\/\/`, "%2f%2f"} {
		if bytes.Contains(bytes.ToLower(text), []byte(slashes)) {
			return true
		}
	}
	return false
}

// emptied reports whether a value is what redaction leaves of one that takes no placeholder.
func emptied(n canon.Node, s *shape) bool {
	return s != nil && s.form == formLiteral && string(n.AppendCanonical(nil)) == s.literal
}

// descend follows tokens from a value of a shape as far as they lead. hidden says that a
// value was withheld on the way, before the last of them.
func descend(n canon.Node, tokens []string, s *shape) (found canon.Node, hidden bool) {
	for i, token := range tokens {
		if n.Kind() == canon.KindString && masked(n.Text()) || i > 0 && emptied(n, s) {
			return n, true
		}
		if n = childOf(n, token); n.IsZero() {
			return n, false
		}
		s = s.child(token)
	}
	return n, false
}

// childOf returns the member or the element that a token names (RFC 6901 section 4).
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

// hollow reports whether nothing stands in a place: null, an empty text, placeholders, and
// lists and objects of nothing else.
func hollow(n canon.Node) bool {
	switch n.Kind() {
	case canon.KindNull:
		return true
	case canon.KindString:
		return len(n.Text()) == 0 || masked(n.Text())
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

// masked reports whether a text is a placeholder, or holds one of this package's in the
// place of a part. Other programs write [REDACTED], <withheld>, or asterisks. A recording
// writes a label in the place of a path outside the workspace.
func masked(text []byte) bool {
	if bytes.HasPrefix(text, []byte("(outside ")) && bytes.HasSuffix(text, []byte(")")) {
		return true
	}
	for _, known := range []string{placeholder, withheld, urlPlaceholder, "<redacted:"} {
		if bytes.Contains(text, []byte(known)) {
			return true
		}
	}
	inner := strings.ToLower(strings.Trim(string(text), "[]<>(){}*_ "))
	return inner == "" && len(text) > 0 || inner == "redacted" || inner == "withheld"
}

func pointerOf(tokens []string) string {
	var b []byte
	for _, t := range tokens {
		b = canon.AppendToken(b, t)
	}
	return string(b)
}
