package match

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A compiled detector can search a text in three ways with the same result: in the entire text, in
// the regions around its anchors, or only at the positions at which a match must begin, given the
// end of an anchor.
type compiled struct {
	name     string
	group    int
	keywords []string
	entropy  float64
	allow    []allowance

	whole  *program // searches the text
	within *program // searches part of a text; if back is set, the part begins one rune earlier
	at     *program // matches only at the beginning of such a part
	start  *program // matches only at the beginning of the text
	back   bool     // the pattern tests the text that precedes a match
	placed bool     // an anchor determines where a match begins: before bytes earlier
	before int      // no match begins further than this many bytes before an anchor
	match  *automaton
	tight  *automaton // like match, but only for matches that begin at a single position

	// Every match contains one of the anchors, and therefore a keyword. If there are no anchors,
	// whole is used.
	anchors []anchor
}

// compile compiles a detector. It returns the fault in an invalid detector, or "".
func (c *compiled) compile(d Detector, shared criteria) string {
	if len(d.Pattern) > maxPattern {
		return fmt.Sprintf("the pattern has more than %d bytes", maxPattern)
	}
	tree, err := syntax.Parse(d.Pattern, syntax.Perl)
	if err != nil {
		return explain(err)
	}

	// A pattern that matches almost anything would withhold almost everything.
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

	// The detector's own exceptions form an additional allowance, which is also compared with the
	// entire match.
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

// plan chooses how a detector searches.
func (c *compiled) plan(tree *syntax.Regexp, pattern string) string {
	parts := flatten(nil, tree)
	anchors := best(parts, nil, c.hasKeyword)
	if len(anchors) > 0 && len(c.keywords) == 0 {
		for _, a := range anchors {
			c.keywords = append(c.keywords, a.text)
		}
	}

	// A region begins at the earliest position at which a match may begin. If the pattern does not
	// limit this position, the entire text is searched.
	for _, a := range anchors {
		if a.before.max < 0 {
			return ""
		}
		c.before = max(c.before, a.before.max)
	}

	if !c.hasKeyword(anchors) {
		return ""
	}

	// The automaton finds possible matches, and the pattern decides.
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

	// Parsing takes time, so these programs are parsed only when a text needs them. leftmost checks
	// whether at could be compiled.
	c.at, c.start = &program{pattern: `\A` + before + `(?:` + pattern + `)`}, &program{pattern: `\A(?:` + pattern + `)`}

	// If all anchors are at the same distance from the beginning of a match, only one position is
	// tried for a match. Matches then begin in the order of the anchors.
	place := size{c.before, c.before}
	if c.placed = !slices.ContainsFunc(anchors, func(a anchor) bool { return a.before != place }); c.placed {
		if c.at, err = newProgram(c.at.pattern); err != nil {
			return explain(err)
		}
	}
	return ""
}

// hasKeyword reports whether each anchor contains a keyword.
func (c *compiled) hasKeyword(anchors []anchor) bool {
	return len(anchors) > 0 && (len(c.keywords) == 0 || !slices.ContainsFunc(anchors, func(a anchor) bool {
		return !slices.ContainsFunc(c.keywords, func(k string) bool { return strings.Contains(a.text, k) })
	}))
}

// knowledge returns the words by which the detector is found.
func (c *compiled) knowledge() (k Knowledge) {
	if len(c.anchors) == 0 {
		return Knowledge{Keywords: c.keywords}
	}
	for _, a := range c.anchors {
		k.Anchors = append(k.Anchors, a.text)
	}
	return k
}

// explain describes why a pattern is invalid, without quoting the pattern.
func explain(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return "the pattern is invalid: " + e.Code.String()
	}
	return "the pattern is invalid"
}

// here returns the match that begins at the given position, if any. Its positions are relative to
// base.
func (c *compiled) here(text []byte, begin int) (at []int, base int) {
	if begin == 0 {
		return c.start.get().FindSubmatchIndex(text), 0
	}
	base = c.base(text, begin)
	if at = c.at.get().FindSubmatchIndex(text[base:]); at != nil {
		at[0] += begin - base // the preceding rune was only tested and is not part of the match
	}
	return at, base
}

// first returns the first match that begins at or after the given position.
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

// base returns the position at which a part must begin so that matches are found from a given
// position on, because \b and ^ test the preceding rune.
func (c *compiled) base(text []byte, begin int) int {
	if !c.back {
		return begin
	}
	_, n := utf8.DecodeLastRune(text[:begin])
	return begin - n
}
