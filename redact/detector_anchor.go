package redact

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An anchor is a text that occurs in a match, whatever the case of its letters,
// and how far the match can reach around it. To search where anchors occur is
// to search everywhere.
type anchor struct {
	text   string
	before size  // bytes from the beginning of a match to text
	right  reach // from the end of text to the end of a match
	next   *sight
}

// A sight is what must be seen behind an anchor for a match. It decides in a
// moment what a regular expression needs a microsecond for.
type sight struct {
	skip   byteSet // only such bytes are before
	far    int     // and no more of them
	need   byteSet // one of these, of which none can be skipped;
	gap    byteSet // from there on only such bytes,
	within int     // at most so many, are before
	run    byteSet // bytes of which
	min    int     // there are at least so many
}

// A reach bounds how far something goes in a text: some bytes, then as many as
// there are of a set, and again.
type reach []step

type step struct {
	n   int
	run *byteSet // nil: empty
}

type byteSet [256]bool

// A size says how many bytes a pattern can match.
type size struct {
	min, max int // max -1: no bound
}

const (
	maxAnchors    = 128 // of one detector
	maxAnchorText = 24
	minAnchorText = 2
	maxSight      = 1024
	maxLaps       = 16
)

// plan decides how a detector searches.
func (c *compiled) plan(tree *syntax.Regexp, pattern string) string {
	parts := flatten(nil, tree)
	anchors := best(parts, nil, c.hasKeyword)
	if len(anchors) > 0 && len(c.keywords) == 0 {
		for _, a := range anchors {
			c.keywords = append(c.keywords, a.text)
		}
	}
	for _, a := range anchors {
		if a.before.max < 0 {
			return ""
		}
		c.before = max(c.before, a.before.max)
	}
	if !c.hasKeyword(anchors) {
		return ""
	}
	var err error
	c.anchors, c.within, c.back = anchors, c.whole, looksBack(parts)
	before := ""
	if c.back {
		before = `(?s:.)` // lets \b and ^ see what they stand behind
		if c.within, err = newProgram(before + `(?:` + pattern + `)`); err != nil {
			return explain(err)
		}
	}
	place := size{c.before, c.before} // the same for all, so that matches begin in the order of anchors
	if !slices.ContainsFunc(anchors, func(a anchor) bool { return a.before != place }) {
		if c.begins, err = newProgram(`\A` + before + `(?:` + pattern + `)`); err != nil {
			return explain(err)
		}
	}
	return ""
}

// hasKeyword reports whether each anchor brings a keyword with it.
func (c *compiled) hasKeyword(anchors []anchor) bool {
	return len(anchors) > 0 && (len(c.keywords) == 0 || !slices.ContainsFunc(anchors, func(a anchor) bool {
		return !slices.ContainsFunc(c.keywords, func(k string) bool { return strings.Contains(a.text, k) })
	}))
}

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
	exacts := make([][]string, len(parts))
	for i, p := range parts {
		exacts[i] = exact(p)
	}
	for i, p := range parts {
		texts := []string{""}
		for j := i; j < len(parts); j++ {
			if texts = cross(texts, exacts[j]); len(texts) == 0 {
				break
			}
			behind := slices.Concat(parts[j+1:], after)
			if inner := anchorsOf(texts, look(behind)); inner != nil {
				consider(i, j+1, inner)
			}
		}
		if inner := within(p, slices.Concat(parts[i+1:], after)); inner != nil {
			consider(i, i+1, inner)
		}
	}
	return found
}

// look returns what must be seen of parts, or nil when that is too little.
func look(parts []*syntax.Regexp) *sight {
	var s sight
	i, before := 0, size{}
	for ; i < len(parts) && measure(parts[i]).min == 0; i++ {
		s.skip.add(parts[i])
		before = before.then(measure(parts[i]))
	}
	if before.max < 0 || before.max > maxSight {
		return nil
	}
	s.far = before.max
	if i == len(parts) {
		return nil
	}
	s.need.addFirst(parts[i])
	for c := range s.need {
		if s.need[c] && s.skip[c] {
			return nil
		}
	}
	for _, p := range parts[i:] {
		if p.Op == syntax.OpRepeat && p.Min >= 2 && measure(p.Sub[0]).min == 1 {
			s.min = p.Min
			s.run.add(p)
			break
		}
		n := measure(p).max
		if n < 0 || s.within+n > maxSight {
			break
		}
		s.gap.add(p)
		s.within += n
	}
	return &s
}

// behind reports whether it is there behind a place of a text.
func (s *sight) behind(text []byte, at int) bool {
	for last := at + s.far; at == len(text) || !s.need[text[at]]; at++ {
		if at == len(text) || at == last || !s.skip[text[at]] {
			return false
		}
	}
	stray := false // a byte of this run cannot be before another one
	for n, last := 0, at+s.within; n < s.min; at++ {
		switch {
		case at == len(text) || n == 0 && at > last:
			return false
		case s.run[text[at]]:
			n++
			stray = stray || !s.gap[text[at]]
		case stray || !s.gap[text[at]]:
			return false
		default:
			n = 0
		}
	}
	return true
}

// within returns the anchors of a part that is none as a whole.
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
func anchorsOf(texts []string, next *sight) []anchor {
	var list []anchor
	for _, t := range texts {
		if len(t) < minAnchorText {
			return nil
		}
		list = append(list, anchor{text: t, next: next})
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
	shifted := make([]anchor, len(list))
	for i, a := range list {
		a.before = left.then(a.before)
		a.right = slices.Concat(a.right, right).tidy()
		shifted[i] = a
	}
	return shifted
}

// better reports whether anchors are worth more than others: they bring the
// keywords, occur less often, or say where a match begins.
func better(a, b []anchor, ok func([]anchor) bool) bool {
	if ok != nil && ok(a) != ok(b) {
		return ok(a)
	}
	if x, y := shortest(a), shortest(b); x != y {
		return x > y
	}
	return len(a) < len(b)
}

func shortest(list []anchor) int {
	n := maxAnchorText
	for _, a := range list {
		n = min(n, len(a.text))
	}
	return n
}

// cross returns every text of a followed by every one of b, or none when these
// are too many or too long.
func cross(a, b []string) []string {
	if len(a)*len(b) > maxAnchors {
		return nil
	}
	var list []string
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

// exact returns all texts that a pattern matches, in lower case, or none when
// these are too many.
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
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
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1] >= ranges[i]+maxAnchors {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if fold(r) >= utf8.RuneSelf {
				return nil
			}
			letters[fold(r)] = true
		}
	}
	list := make([]string, 0, 64)
	for c, ok := range letters {
		if ok {
			list = append(list, string(rune(c)))
		}
	}
	return list
}

// fold returns the ASCII letter in lower case that a rune equals, or the rune.
func fold(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r == '\u017F': // long s
		return 's'
	case r == '\u212A': // Kelvin sign
		return 'k'
	}
	return r
}

// measure returns how many bytes a pattern can match.
func measure(re *syntax.Regexp) size {
	switch re.Op {
	case syntax.OpLiteral:
		var s size
		for _, r := range re.Rune {
			one := runeSize(r, r)
			if re.Flags&syntax.FoldCase != 0 {
				for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
					one = one.or(runeSize(other, other))
				}
			}
			s = s.then(one)
		}
		return s
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return size{1, 1} // matches nothing
		}
		s := runeSize(re.Rune[0], re.Rune[1])
		for i := 2; i < len(re.Rune); i += 2 {
			s = s.or(runeSize(re.Rune[i], re.Rune[i+1]))
		}
		return s
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return size{1, utf8.UTFMax}
	case syntax.OpNoMatch:
		return size{1, 1}
	case syntax.OpCapture:
		return measure(re.Sub[0])
	case syntax.OpQuest:
		return measure(re.Sub[0]).or(size{})
	case syntax.OpStar:
		return size{0, -1}
	case syntax.OpPlus:
		return size{measure(re.Sub[0]).min, -1}
	case syntax.OpRepeat:
		s := measure(re.Sub[0])
		if s.min *= re.Min; re.Max < 0 || s.max < 0 {
			return size{s.min, -1}
		}
		return size{s.min, s.max * re.Max}
	case syntax.OpConcat:
		var s size
		for _, sub := range re.Sub {
			s = s.then(measure(sub))
		}
		return s
	case syntax.OpAlternate:
		s := measure(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			s = s.or(measure(sub))
		}
		return s
	}
	return size{} // asserts something
}

func (s size) then(t size) size {
	if s.max < 0 || t.max < 0 {
		return size{s.min + t.min, -1}
	}
	return size{s.min + t.min, s.max + t.max}
}

func (s size) or(t size) size {
	if s.max < 0 || t.max < 0 {
		return size{min(s.min, t.min), -1}
	}
	return size{min(s.min, t.min), max(s.max, t.max)}
}

// runeSize returns the sizes of runes between two. A byte that is no UTF-8 is
// read as U+FFFD.
func runeSize(lo, hi rune) size {
	s := size{utf8.RuneLen(lo), utf8.RuneLen(hi)}
	if lo <= utf8.RuneError && utf8.RuneError <= hi || s.min < 0 {
		s.min = 1
	}
	if s.max < 0 {
		s.max = utf8.UTFMax
	}
	return s
}

// reachOf bounds how far a match of a pattern goes.
func reachOf(re *syntax.Regexp) reach {
	if s := measure(re); s.max >= 0 {
		return reach{{n: s.max}}
	}
	var r reach
	switch re.Op {
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			r = append(r, reachOf(sub)...)
		}
		return r
	case syntax.OpRepeat:
		if re.Max >= 0 && re.Max <= maxLaps {
			for range re.Max {
				r = append(r, reachOf(re.Sub[0])...)
			}
			return r
		}
	}
	var set byteSet
	set.add(re)
	return reach{{run: &set}}
}

// tidy joins steps.
func (r reach) tidy() reach {
	var list reach
	for _, s := range r {
		if n := len(list); n > 0 && list[n-1].run == nil {
			list[n-1].n += s.n
			list[n-1].run = s.run
		} else {
			list = append(list, s)
		}
	}
	return list
}

// add adds the bytes that can occur in a match.
func (b *byteSet) add(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			b.addRange(r, r)
			if re.Flags&syntax.FoldCase != 0 {
				for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
					b.addRange(other, other)
				}
			}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			b.addRange(re.Rune[i], re.Rune[i+1])
		}
	case syntax.OpAnyChar:
		b.addRange(0, unicode.MaxRune)
	case syntax.OpAnyCharNotNL:
		b.addRange(0, '\n'-1)
		b.addRange('\n'+1, unicode.MaxRune)
	}
	for _, sub := range re.Sub {
		b.add(sub)
	}
}

func (b *byteSet) addRange(lo, hi rune) {
	for r := lo; r <= hi && r < utf8.RuneSelf; r++ {
		b[r] = true
	}
	if hi >= utf8.RuneSelf {
		for i := utf8.RuneSelf; i < len(b); i++ {
			b[i] = true
		}
	}
}

// addFirst adds the bytes that a match can begin with.
func (b *byteSet) addFirst(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		first := *re
		first.Rune = re.Rune[:1]
		b.add(&first)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if b.addFirst(sub); measure(sub).min > 0 {
				return
			}
		}
	case syntax.OpCapture, syntax.OpAlternate, syntax.OpQuest, syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		for _, sub := range re.Sub {
			b.addFirst(sub)
		}
	default:
		b.add(re)
	}
}
