package redact

import (
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A hunt finds the hashes of values that a walk withholds.
type hunt struct {
	*walk
	values   int                // number of hits from rules; these hits come first
	at       map[canon.Node]int // index of the hit for each value
	digests  map[canon.Digest]bool
	affected map[canon.Node]*affected
}

// An affected object is an object that contains withheld values.
type affected struct {
	at      *place
	members map[string]bool // members that are withheld or that contain a withheld value
}

// addHashes adds the hashes of withheld values to the hits of a walk.
func addHashes(w *walk, root canon.Node) {
	// For each value that the rules withhold, its place, the objects around it, and its digests are
	// recorded.
	h := hunt{w, len(w.hits), map[canon.Node]int{}, map[canon.Digest]bool{}, map[canon.Node]*affected{}}
	for i := range w.hits {
		v := &w.hits[i]
		h.at[v.at.node] = i
		h.affect(v.at)
		add := func(d canon.Digest) { h.digests[d] = true }
		sums(v.at.node, add)
		for _, s := range v.secrets {
			textSums(s, add)
		}
	}

	// Then, the hashes next to the value are added, and the hashes in deltas whose paths lead to
	// the value.
	for _, a := range h.affected {
		h.beside(a)
	}
	h.deltaHashes(root)

	// A digest allows guesses of a withheld value to be checked, wherever the digest occurs.
	for d := range h.digests {
		for _, m := range w.mentions[d] {
			if m.inName {
				h.add(m.at, ruleHash+inName)
			} else {
				h.add(m.at, ruleHash)
			}
		}
	}
}

// affect records a withheld value in each object that contains the value.
func (h *hunt) affect(p *place) {
	for ; p.parent != nil; p = p.parent {
		if p.index >= 0 {
			continue
		}

		a := h.affected[p.parent.node]
		if a == nil {
			a = &affected{p.parent, map[string]bool{}}
			h.affected[p.parent.node] = a
		}
		if a.members[p.name] {
			return
		}
		a.members[p.name] = true
	}
}

// add withholds a hash and all other occurrences of the same digest.
func (h *hunt) add(p *place, rule string) {
	if i, ok := h.at[p.node]; ok {
		if hit := &h.hits[i]; hit.text != nil { // withholding part of the text is not enough
			hit.text, hit.rule = nil, addRule(hit.rule, rule)
		}
		return
	}
	if !h.shows(p.node, p.shape) {
		return
	}

	// The same digest may also occur elsewhere.
	h.at[p.node] = len(h.hits)
	h.hits = append(h.hits, hit{at: p, rule: rule})
	digestsIn(p.node.Text(), func(d canon.Digest) { h.digests[d] = true })
}

// addMember withholds a member of an object.
func (h *hunt) addMember(object *place, name string, value canon.Node) {
	if k := value.Kind(); k == canon.KindString || k == canon.KindNumber {
		h.add(&place{object, value, name, -1, object.shape.child(name)}, ruleHash)
	}
}

// beside withholds the hashes that are stored next to withheld values.
func (h *hunt) beside(a *affected) {
	object, s := a.at.node, a.at.shape
	// If the format defines the members of the object, a table maps hashes to values.
	if s != nil && !s.open {
		for _, rule := range s.hashes {
			for member := range a.members {
				if rule.covers(object, member) {
					h.addAll(a.at, rule.hashes)
					break
				}
			}
		}
		return
	}

	// In an open object, names map hashes to values; for example, password_sha256 is a hash of
	// password.
	folded := map[string]bool{}
	for member := range a.members {
		folded[foldName(member)] = true
	}

	for name, value := range object.Members() {
		if !a.members[name.String()] && isHashName(foldName(name.String()), folded) {
			h.addMember(a.at, name.String(), value)
		}
	}
}

func (h *hunt) addAll(object *place, members string) {
	for name := range strings.FieldsSeq(members) {
		h.addMember(object, name, object.node.Member(name))
	}
}

// deltaHashes withholds the digests of a delta whose path leads to a withheld value, to a value
// within it, or to a value that contains it.
func (h *hunt) deltaHashes(root canon.Node) {
	deltas := root.Member("deltas")
	if deltas.Len() == 0 {
		return
	}

	// Only values that rules withhold are considered, not the hashes that have been added.
	var fields []string
	for _, v := range h.hits[:h.values] {
		fields = append(fields, v.pointer)
	}

	slices.SortFunc(fields, comparePointers)

	top := &place{node: root, index: -1, shape: h.policy.shape}
	list := &place{top, deltas, "deltas", -1, h.policy.shape.child("deltas")}
	for i, delta := range deltas.Elements() {
		if touches(fields, delta.Member("path").String()) {
			element := &place{list, delta, "", i, list.shape.child(anyToken)}
			h.addAll(element, "before_sha256 after_sha256")
		}
	}
}

// touches reports whether a pointer is equal to, below, or above one of the fields. No field is
// below another field, so only the two fields next to the pointer in sort order can match.
func touches(fields []string, pointer string) bool {
	i, found := slices.BinarySearchFunc(fields, pointer, comparePointers)
	return found || i > 0 && below(pointer, fields[i-1]) || i < len(fields) && below(fields[i], pointer)
}

// below reports whether a pointer refers to a location within the location of another pointer.
func below(pointer, other string) bool {
	return len(pointer) > len(other) && pointer[len(other)] == '/' && pointer[:len(other)] == other
}

// comparePointers compares pointers token by token, so that locations within a value sort directly
// after the value.
func comparePointers(a, b string) int {
	rank := func(c byte) int {
		if c == '/' {
			return -1
		}
		return int(c)
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return rank(a[i]) - rank(b[i])
		}
	}
	return len(a) - len(b)
}
