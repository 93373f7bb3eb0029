package secret

import (
	"regexp/syntax"
	"slices"
)

// An anchor is a text that occurs in a match, whatever the case of its letters,
// and how far the match can reach around it. To search where anchors occur is
// to search everywhere.
type anchor struct {
	text   string
	before size  // bytes from the beginning of a match to text
	right  reach // from the end of text to the end of a match
	next   *sight
	tail   *automaton // of what follows text in a match
}

const (
	maxAnchors    = 128 // of one detector
	maxAnchorText = 24
	minAnchorText = 2
)

// flatten appends the parts of a pattern that follow each other, and parts
// repetitions into what must be there and what may follow.
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

// looksBack reports whether a pattern asks what stands before its match.
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

// best returns the most telling anchors of a pattern before another, or none.
func best(parts, after []*syntax.Regexp, ok func([]anchor) bool) []anchor {
	var found []anchor
	consider := func(from, to int, inner []anchor) {
		shifted := shift(inner, parts[:from], parts[to:])
		if len(found) == 0 || better(shifted, found, ok) {
			found = shifted
		}
	}

	// Once: each run of parts joins them again.
	exacts := make([][]string, len(parts))
	for i, p := range parts {
		exacts[i] = exact(p)
	}

	// A run of parts matches their texts one after the other, until these are too many.
	for i, p := range parts {
		texts := []string{""}
		for j := i; j < len(parts); j++ {
			if texts = cross(texts, exacts[j]); len(texts) == 0 {
				break
			}
			behind := slices.Concat(parts[j+1:], after)
			if inner := anchorsOf(texts, behind); inner != nil {
				consider(i, j+1, inner)
			}
		}
		if inner := within(p, slices.Concat(parts[i+1:], after)); inner != nil {
			consider(i, i+1, inner)
		}
	}

	return found
}

// within returns the anchors of a part that is not one as a whole.
func within(re *syntax.Regexp, after []*syntax.Regexp) []anchor {
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) <= maxAnchorText {
			return nil
		}
		first, rest := *re, *re
		first.Rune, rest.Rune = re.Rune[:maxAnchorText], re.Rune[maxAnchorText:]
		return best([]*syntax.Regexp{&first, &rest}, after, nil)
	case syntax.OpAlternate:
		var all []anchor
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

// anchorsOf makes anchors of the texts that a pattern matches.
func anchorsOf(texts []string, behind []*syntax.Regexp) []anchor {
	var list []anchor
	next, tail := look(behind), &automaton{tree: &syntax.Regexp{Op: syntax.OpConcat, Sub: behind}}
	for _, t := range texts {
		if len(t) < minAnchorText {
			return nil
		}
		list = append(list, anchor{text: t, next: next, tail: tail})
	}
	return list
}

// shift adds what stands before and after the anchors of a part.
func shift(list []anchor, before, after []*syntax.Regexp) []anchor {
	var left size
	for _, p := range before {
		left = left.then(measure(p))
	}

	var right reach
	for _, p := range after {
		right = append(right, reachOf(p)...)
	}

	// A copy: the caller's list stays as it is.
	shifted := make([]anchor, len(list))
	for i, a := range list {
		a.before = left.then(a.before)
		a.right = slices.Concat(a.right, right).tidy()
		shifted[i] = a
	}

	return shifted
}

// better reports whether anchors are worth more than others: they bring the
// keywords, say where a match begins, or occur less often.
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

// known reports whether all anchors say how far before them a match begins at
// most. Others are of no use.
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
