package match

import (
	"slices"
	"strings"
)

// Naive scans a string as documented, using as little of the engine as possible. It uses each
// detector separately, and searches the entire string with a regular expression.
func Naive(s *Scanner, text []byte) []Span {
	owner := make([]int, len(text)) // for each byte, 1 plus the index of the match that contains it, or 0
	var finds []Span
	for i := range s.detectors {
		d := &s.detectors[i].source
		if !slices.ContainsFunc(d.Keywords, func(k string) bool { return strings.Contains(asciiLower(text), k) }) && len(d.Keywords) > 0 {
			continue
		}
		w := work{s: s, text: text, plain: true}
		for _, at := range s.detector(i).whole.get().FindAllSubmatchIndex(text, -1) {
			w.take(i, at, 0)
		}
		for _, f := range w.finds {
			meets := map[int]bool{}
			for _, o := range owner[f.Start:f.End] {
				if o > 0 {
					meets[o-1] = true
				}
			}
			if len(meets) > 0 && d.Group == 0 {
				continue
			}
			for o := range meets {
				f.Start, f.End, f.Detector = min(f.Start, finds[o].Start), max(f.End, finds[o].End), min(f.Detector, finds[o].Detector)
				finds[o].Start = -1
			}
			finds = append(finds, f)
			for j := f.Start; j < f.End; j++ {
				owner[j] = len(finds)
			}
		}
	}
	finds = slices.DeleteFunc(finds, func(f Span) bool { return f.Start < 0 })
	slices.SortFunc(finds, func(a, b Span) int { return a.Start - b.Start })
	return finds
}

// asciiLower also folds the two non-ASCII letters that regular expressions fold to ASCII letters.
func asciiLower(text []byte) string {
	return strings.NewReplacer("\u017f", "s", "\u212a", "k").Replace(lower(string(text)))
}

// Compiled returns how many detectors are compiled.
func Compiled(s *Scanner) (n int) {
	for i := range s.detectors {
		if s.detectors[i].ready.Load() {
			n++
		}
	}
	return n
}

// Edges returns the size of the word tree in edges and the number of edges that are used.
func Edges(s *Scanner) (places, used int) {
	for _, e := range s.words.tree.edges {
		if e.of != 0 {
			used++
		}
	}
	return len(s.words.tree.edges), used
}

// A Criterion is a pattern in an allowance.
type Criterion struct {
	Pattern  string
	w, plain *work
	of       *criterion
}

// Criteria returns all distinct patterns in the allowances of all detectors.
func Criteria(s *Scanner) (list []Criterion) {
	w, plain := &work{s: s}, &work{s: s, plain: true}
	seen := map[*criterion]bool{}
	for i := range s.detectors {
		for _, a := range s.detector(i).allow {
			for _, c := range a.patterns {
				if !seen[c] {
					seen[c] = true
					list = append(list, Criterion{c.pattern, w, plain, c})
				}
			}
		}
	}
	return list
}

// Met reports whether a string meets the criterion, and whether the criterion's regular expression
// matches the string.
func (c Criterion) Met(text []byte) (met, matches bool) {
	return c.of.met(c.w, text), c.of.met(c.plain, text)
}
