package match

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A compiled detector can search a string in three ways, which have the same result: it can search
// the entire string, the regions around its anchors, or only the positions at which a match must
// begin. Such a position is computed from the position of an anchor.
type compiled struct {
	name     string
	group    int
	keywords []string
	entropy  float64
	allow    []allowance

	whole  *program // searches the text
	within *program // searches a part of the text; if back is set, the part begins one rune before the first possible match
	at     *program // matches only at the beginning of such a part
	start  *program // matches only at the beginning of the text
	back   bool     // the pattern depends on the text before a match
	placed bool     // all matches begin at the same distance from an anchor; the field before contains the distance
	before int      // maximum distance from the beginning of a match to an anchor, in bytes
	match  *automaton
	tight  *automaton // like match, but only for matches that begin at one given position

	// Every match contains one of the anchors, and therefore contains a keyword. If there are no
	// anchors, the detector uses whole.
	anchors []anchor
}

// compile compiles a detector. It returns a description of the fault if the detector is invalid,
// and "" otherwise.
func (c *compiled) compile(d Detector, shared criteria) string {
	if len(d.Pattern) > maxPattern {
		return fmt.Sprintf("the pattern has more than %d bytes", maxPattern)
	}
	tree, err := syntax.Parse(d.Pattern, syntax.Perl)
	if err != nil {
		return explain(err)
	}

	// A pattern that matches almost any string would withhold almost everything.
	c.whole = &program{pattern: d.Pattern}
	least := measure(tree).min
	switch {
	case least == 0:
		return "the pattern matches the empty text"
	case least == 1 && c.whole.get().MatchString(" ") && c.whole.get().MatchString("a"):
		return "the pattern matches any text"
	case d.Group < FirstGroup || d.Group > tree.MaxCap():
		return fmt.Sprintf("the pattern has no group %d", d.Group)
	case !(d.Entropy >= 0 && d.Entropy <= 8):
		return "the entropy of a byte is between 0 and 8 bits"
	}

	c.name, c.group, c.entropy = d.Name, d.Group, d.Entropy
	for _, k := range d.Keywords {
		if k == "" || len(k) > maxKeyword {
			return fmt.Sprintf("expected a keyword of 1 to %d bytes", maxKeyword)
		}
		c.keywords = append(c.keywords, lower(k))
	}

	// The detector's own exceptions form another allowance, whose patterns are also compared with
	// the entire match.
	own := Allowance{Patterns: d.Allow, StopWords: d.StopWords}
	for i, a := range append([]Allowance{own}, d.Allowed...) {
		compiled, reason := compileAllowance(a, shared)
		if reason != "" {
			return reason
		}
		if compiled.either = i == 0; len(a.Patterns)+len(a.StopWords) > 0 {
			c.allow = append(c.allow, compiled)
		}
	}

	return c.plan(tree, d.Pattern)
}

// plan determines how a detector searches.
func (c *compiled) plan(tree *syntax.Regexp, pattern string) string {
	parts := flatten(nil, tree)
	anchors := best(parts, nil, c.hasKeyword)
	if len(anchors) > 0 && len(c.keywords) == 0 {
		for _, a := range anchors {
			c.keywords = append(c.keywords, a.text)
		}
	}

	// A region begins at the earliest position at which a match can begin. If the pattern does not
	// limit that position, the entire text is searched.
	for _, a := range anchors {
		if a.before.max < 0 {
			return ""
		}
		c.before = max(c.before, a.before.max)
	}

	if !c.hasKeyword(anchors) {
		return ""
	}

	// The automaton finds possible matches, and the regular expression confirms them.
	var err error
	c.anchors, c.within, c.back = anchors, c.whole, looksBack(parts)
	c.match, c.tight = &automaton{tree: tree, loose: true}, &automaton{tree: tree}
	before := ""
	if c.back {
		before = `(?s:.)` // lets \b and ^ test what precedes them
		if c.within, err = newProgram(before + `(?:` + pattern + `)`); err != nil {
			return explain(err)
		}
	}

	// Parsing takes time, so these patterns are parsed only when they are needed. The method
	// leftmost checks whether the program at could be compiled.
	c.at, c.start = &program{pattern: `\A` + before + `(?:` + pattern + `)`}, &program{pattern: `\A(?:` + pattern + `)`}

	// If all anchors have the same distance from the beginning of a match, a match can begin at
	// only one position per anchor. Matches then begin in the order of their anchors.
	place := size{c.before, c.before}
	if c.placed = !slices.ContainsFunc(anchors, func(a anchor) bool { return a.before != place }); c.placed {
		if c.at, err = newProgram(c.at.pattern); err != nil {
			return explain(err)
		}
	}
	return ""
}

// hasKeyword reports whether every anchor contains a keyword.
func (c *compiled) hasKeyword(anchors []anchor) bool {
	return len(anchors) > 0 && (len(c.keywords) == 0 || !slices.ContainsFunc(anchors, func(a anchor) bool {
		return !slices.ContainsFunc(c.keywords, func(k string) bool { return strings.Contains(a.text, k) })
	}))
}

// knowledge returns the words by which the scanner finds the detector.
func (c *compiled) knowledge() (k Knowledge) {
	if len(c.anchors) == 0 {
		return Knowledge{Keywords: c.keywords}
	}
	for _, a := range c.anchors {
		k.Anchors = append(k.Anchors, a.text)
	}
	return k
}

// explain describes why a pattern is invalid, without quoting it.
func explain(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return "the pattern is invalid: " + e.Code.String()
	}
	return "the pattern is invalid"
}

// here returns the match that begins at the given position, if there is one. The positions in the
// result are relative to base.
func (c *compiled) here(text []byte, begin int) (at []int, base int) {
	if begin == 0 {
		return c.start.get().FindSubmatchIndex(text), 0
	}
	base = c.base(text, begin)
	if at = c.at.get().FindSubmatchIndex(text[base:]); at != nil {
		at[0] += begin - base // the preceding rune was only tested, so it is not part of the match
	}
	return at, base
}

// first returns the first match that begins at the position from or later.
func (c *compiled) first(text []byte, from int) (at []int, base int) {
	if from == 0 {
		return c.whole.get().FindSubmatchIndex(text), 0
	}
	base = c.base(text, from)
	at = c.within.get().FindSubmatchIndex(text[base:])
	if at != nil && base < from {
		_, n := utf8.DecodeRune(text[base+at[0]:])
		at[0] += n
	}
	return at, base
}

// base returns the position at which the searched part must begin so that a match can begin at the
// given position. If the pattern depends on the text before a match, that part includes the
// preceding rune, which \b or ^ may test.
func (c *compiled) base(text []byte, begin int) int {
	if !c.back {
		return begin
	}
	_, n := utf8.DecodeLastRune(text[:begin])
	return begin - n
}
