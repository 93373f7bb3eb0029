package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// cross returns every concatenation of a text from a and a text from b, or none if the
// concatenations are too many or too long.
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

// exact returns all texts that a pattern matches, in lowercase, or none if there are too many.
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}

	// The cases of a non-ASCII letter may have different lengths, which an anchor cannot represent.
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
	// If any branch is not exact, no text occurs in every match.
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
	// A wide range would produce too many texts.
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
