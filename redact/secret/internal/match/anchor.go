package match

import (
	"regexp/syntax"
	"slices"
)

// An anchor is a string that occurs in every match of a pattern, ignoring case, together with its
// possible distances from the beginning and the end of the match.
type anchor struct {
	text   string
	before size  // number of bytes from the beginning of a match to the anchor
	right  reach // limit on the text from the end of the anchor to the end of a match
	next   *sight
	tail   *automaton // matches the text that can follow the anchor in a match
}

const (
	maxAnchors    = 128 // of one detector
	maxAnchorText = 24
	minAnchorText = 2
)

// flatten appends the consecutive parts of a pattern. It splits a repetition into a required and an
// optional part.
func flatten(parts []*syntax.Regexp, re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			parts = flatten(parts, sub)
		}
		return parts
	case syntax.OpPlus:
		return append(flatten(parts, re.Sub[0]), &syntax.Regexp{Op: syntax.OpStar, Sub: re.Sub})
	case syntax.OpRepeat:
		if re.Min > 0 && re.Max != re.Min {
			more := re.Max - re.Min
			if re.Max < 0 {
				more = -1
			}
			return append(parts, &syntax.Regexp{Op: syntax.OpRepeat, Min: re.Min, Max: re.Min, Sub: re.Sub},
				&syntax.Regexp{Op: syntax.OpRepeat, Max: more, Sub: re.Sub})
		}
	}
	return append(parts, re)
}

// looksBack reports whether a pattern depends on the text before its match.
func looksBack(parts []*syntax.Regexp) bool {
	for _, p := range parts {
		switch p.Op {
		case syntax.OpBeginText, syntax.OpBeginLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
			return true
		}
		for _, sub := range p.Sub {
			if looksBack(flatten(nil, sub)) {
				return true
			}
		}
		if measure(p).min > 0 {
			return false
		}
	}
	return false
}

// best returns the most specific anchors of a pattern that is followed by another pattern, or none.
func best(parts, after []*syntax.Regexp, ok func([]anchor) bool) []anchor {
	// These values are computed only once, because a part belongs to several runs.
	exacts, lefts := make([][]string, len(parts)), make([]size, len(parts))
	var left size
	for i, p := range parts {
		exacts[i], lefts[i] = exact(p), left
		left = left.then(measure(p))
	}

	var found []anchor
	end := 0 // end of the parts in which the anchors were found
	consider := func(from, to int, inner []anchor) {
		moved := shift(inner, lefts[from])
		if len(found) == 0 || better(moved, found, ok) {
			found, end = moved, to
		}
	}

	// A run of consecutive parts matches the concatenations of the strings that the parts match. A
	// run ends when it has too many concatenations.
	for i, p := range parts {
		texts := []string{""}
		for j := i; j < len(parts); j++ {
			if texts = cross(texts, exacts[j]); len(texts) == 0 {
				break
			}
			if inner := anchorsOf(texts); inner != nil {
				consider(i, j+1, inner)
			}
		}
		if inner := within(p, parts[i+1:], after); inner != nil {
			consider(i, i+1, inner)
		}
	}

	return followed(found, parts[end:], after)
}

// within returns anchors from inside a part that is not itself an anchor. The parts after this part
// are in rest and after.
func within(re *syntax.Regexp, rest, after []*syntax.Regexp) []anchor {
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) <= maxAnchorText {
			return nil
		}
		first, last := *re, *re
		first.Rune, last.Rune = re.Rune[:maxAnchorText], re.Rune[maxAnchorText:]
		return best([]*syntax.Regexp{&first, &last}, slices.Concat(rest, after), nil)
	case syntax.OpAlternate:
		var all []anchor
		after = slices.Concat(rest, after)
		for _, sub := range re.Sub {
			inner := best(flatten(nil, sub), after, nil)
			if inner == nil || len(all)+len(inner) > maxAnchors {
				return nil
			}
			all = append(all, inner...)
		}
		return all
	}
	return nil
}

// anchorsOf returns anchors for the strings that a pattern matches, or none if one of these strings
// is too short. The text that follows the anchors is added later.
func anchorsOf(texts []string) []anchor {
	list := make([]anchor, len(texts))
	for i, t := range texts {
		if len(t) < minAnchorText {
			return nil
		}
		list[i].text = t
	}
	return list
}

// shift adds the size of the preceding parts to the distances of the anchors.
func shift(list []anchor, left size) []anchor {
	// The caller's list must not change.
	moved := slices.Clone(list)
	for i := range moved {
		moved[i].before = left.then(moved[i].before)
	}
	return moved
}

// followed adds the parts that follow the anchors: the rest of the pattern, and the pattern that
// comes after it. Because this is expensive, it is done only for the best anchors.
func followed(list []anchor, rest, after []*syntax.Regexp) []anchor {
	var right reach
	for _, p := range rest {
		right = append(right, reachOf(p)...)
	}

	var next *sight
	var tail *automaton // one for all
	for i := range list {
		a := &list[i]
		a.right = slices.Concat(a.right, right).tidy()
		if a.tail != nil {
			continue // the anchor of an inner pattern already has these parts
		}
		if tail == nil {
			behind := slices.Concat(rest, after)
			next, tail = look(behind), &automaton{tree: &syntax.Regexp{Op: syntax.OpConcat, Sub: behind}}
		}
		a.next, a.tail = next, tail
	}

	return list
}

// better reports whether the anchors in a are preferable to the anchors in b. The criteria, in
// order of priority, are whether ok accepts the anchors, whether they limit where a match begins,
// the length of the shortest anchor (longer is better), and the number of anchors (fewer is
// better).
func better(a, b []anchor, ok func([]anchor) bool) bool {
	if ok != nil && ok(a) != ok(b) {
		return ok(a)
	}
	if x, y := known(a), known(b); x != y {
		return x
	}
	if x, y := shortest(a), shortest(b); x != y {
		return x > y
	}
	return len(a) < len(b)
}

// known reports whether the distance of every anchor from the beginning of a match is limited.
// Anchors without such a limit are useless.
func known(list []anchor) bool {
	return !slices.ContainsFunc(list, func(a anchor) bool { return a.before.max < 0 })
}

func shortest(list []anchor) int {
	n := maxAnchorText
	for _, a := range list {
		n = min(n, len(a.text))
	}
	return n
}
