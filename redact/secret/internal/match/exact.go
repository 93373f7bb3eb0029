package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// cross returns every concatenation of a string from a and a string from b. If the results are too
// many or too long, it returns none.
func cross(a, b []string) []string {
	if len(a)*len(b) > maxAnchors {
		return nil
	}
	if len(a) == 0 || len(b) == 0 {
		return nil
	}

	list := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > maxAnchorText {
				return nil
			}
			list = append(list, x+y)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// exact returns all strings that a pattern matches, in lowercase, or none if there are too many.
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}

	// The two cases of a non-ASCII letter may differ in length, which an anchor cannot represent.
	case syntax.OpLiteral:
		var b strings.Builder
		for _, r := range re.Rune {
			if r = fold(r); r >= utf8.RuneSelf {
				return nil
			}
			b.WriteByte(byte(r))
		}
		return cross([]string{""}, []string{b.String()})

	case syntax.OpCharClass:
		return exactClass(re.Rune)
	case syntax.OpConcat:
		list := []string{""}
		for _, sub := range re.Sub {
			list = cross(list, exact(sub))
		}
		return list

	case syntax.OpCapture:
		return exact(re.Sub[0])
	// If one of the branches is not exact, no string occurs in every match.
	case syntax.OpAlternate:
		var list []string
		for _, sub := range re.Sub {
			inner := exact(sub)
			if inner == nil {
				return nil
			}
			list = append(list, inner...)
		}
		slices.Sort(list)
		return cross([]string{""}, slices.Compact(list))

	case syntax.OpRepeat:
		if re.Min != re.Max || re.Min > maxAnchorText {
			return nil
		}
		list := []string{""}
		for range re.Min {
			list = cross(list, exact(re.Sub[0]))
		}
		return list
	case syntax.OpQuest:
		if inner := exact(re.Sub[0]); inner != nil {
			return cross([]string{""}, append([]string{""}, inner...))
		}
	}
	return nil
}

func exactClass(ranges []rune) []string {
	var letters byteSet
	n := 0
	// A wide range would result in too many strings.
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1] >= ranges[i]+maxAnchors {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if fold(r) >= utf8.RuneSelf {
				return nil
			}
			if c := fold(r); !letters[c] {
				letters[c] = true
				n++
			}
		}
	}

	list := make([]string, 0, n)
	for c, ok := range letters {
		if ok {
			list = append(list, string(rune(c)))
		}
	}

	return list
}
