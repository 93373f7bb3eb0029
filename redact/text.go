package redact

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/receiptkit/receiptkit/redact/secret"
)

// Placeholders. None tells how long the withheld text was.
const (
	placeholder = "[redacted]" // for a whole value
	withheld    = "[withheld]" // upstream's, for the whole of a prompt or a payload
)

// placeholderOf stands in a text for a find of a detector. Upstream's has the
// length after the name.
func placeholderOf(detector string) string { return "<redacted:" + detector + ">" }

// A cleaner takes out of texts what detectors and the rule for URLs find.
type cleaner struct {
	urls      urlRule
	scanner   *secret.Scanner
	detectors map[string]bool // names: whose placeholders are known
	longest   int             // of them
}

// isPlaceholder reports whether a text is nothing but a placeholder. Such a text
// holds nothing that could be withheld.
func (p *cleaner) isPlaceholder(text []byte) bool {
	return string(text) == withheld || len(text) > 0 && p.placeholderAt(text) == len(text)
}

// placeholderAt returns the length of the placeholder that a text begins with,
// or 0. Only names of the policy's own detectors are known: any other name could
// be a secret.
func (p *cleaner) placeholderAt(text []byte) int {
	for _, known := range []string{placeholder, withheld, urlPlaceholder} {
		if bytes.HasPrefix(text, []byte(known)) {
			return len(known)
		}
	}

	// <redacted:NAME> or <redacted:NAME:LENGTH>, no longer than the longest that is known.
	rest, ok := bytes.CutPrefix(text, []byte("<redacted:"))
	end := bytes.IndexByte(rest[:min(len(rest), p.longest+2+maxLength)], '>')
	if !ok || end < 0 {
		return 0
	}

	name, length, _ := strings.Cut(string(rest[:end]), ":")
	if !p.detectors[name] || strings.Trim(length, "0123456789") != "" || len(length) > maxLength {
		return 0
	}

	return len(text) - len(rest) + end + 1
}

const maxLength = 9 // digits of a length

// pieces yields the parts of a text between its placeholders.
func (p *cleaner) pieces(text []byte, yield func(start, end int)) {
	start := 0
	if bytes.Contains(text, []byte("redacted")) || bytes.Contains(text, []byte("withheld")) {
		for at := 0; at < len(text); at++ {
			if c := text[at]; c != '<' && c != '[' && c != '%' {
				continue
			}
			if n := p.placeholderAt(text[at:]); n > 0 {
				yield(start, at)
				start = at + n
				at = start - 1
			}
		}
	}
	yield(start, len(text))
}

// A cleaned text is what is left of one.
type cleaned struct {
	text    []byte
	rules   []string // that changed it; empty: nothing was
	secrets [][]byte // what was taken out
}

// maxRounds bounds how often a text is cleaned until nothing more is found. One
// round does, except for patterns that match what another left over.
const maxRounds = 8

// clean removes from a text what the detectors and the rule for URLs find, until
// they find nothing: cleaning the result again changes nothing.
func (p *cleaner) clean(text []byte) cleaned {
	c := cleaned{text: text}
	if p.isPlaceholder(text) {
		return c
	}

	// A pattern may match what another one left over.
	for range maxRounds {
		edits := p.edits(&c)
		if len(edits) == 0 {
			return c
		}
		c.apply(edits)
	}

	// Something is found in every round: nothing of the text is kept.
	c.text = []byte(placeholder)
	return c
}

// edits finds what is to be changed, in order and without overlaps.
func (p *cleaner) edits(c *cleaned) []edit {
	urls := p.urls.edits(nil, c.text)
	var finds []edit
	p.pieces(c.text, func(start, end int) {
		piece := c.text[start:end]
		// As it stands, and with one level of escapes taken off.
		finds = p.finds(finds, c, piece, start, nil)
		toolNames(piece, func(name []byte, at int) { finds = p.finds(finds, c, name, start+at, nil) })
		for _, l := range levels() {
			v, ok := decode(piece, l.begins, l.decoder)
			if !ok {
				continue
			}
			finds = p.finds(finds, c, v.text, start, &v)
			urls = p.urls.within(urls, &v, start)
		}
	})

	// A find in a URL that is changed there anyway adds nothing.
	urls = union(urls)
	finds = slices.DeleteFunc(finds, func(f edit) bool { return covered(urls, f) })
	return union(append(urls, finds...))
}

// finds appends what the detectors find in a piece of a text, or in a view of
// it, that begins at start.
func (p *cleaner) finds(list []edit, c *cleaned, piece []byte, start int, v *view) []edit {
	for _, s := range p.scanner.Scan(piece, nil) {
		if s.Start >= s.End {
			continue
		}
		e := edit{start: s.Start, end: s.End}
		if v != nil {
			e.start, e.end = v.source(s.Start), v.source(s.End)
		}
		e.start, e.end = e.start+start, e.end+start
		if v != nil {
			c.secrets = append(c.secrets, piece[s.Start:s.End])
		} else {
			c.secrets = append(c.secrets, c.text[e.start:e.end])
		}

		name := p.scanner.Name(s.Detector)
		e.from, e.with, e.rule = e.start, placeholderOf(name), ruleOf(name)
		list = append(list, e)
	}
	return list
}

// covered reports whether the rule for URLs removes a find: all that is left of
// it is the name of a parameter.
func covered(urls []edit, f edit) bool {
	i := sort.Search(len(urls), func(i int) bool { return urls[i].end >= f.end })
	return i < len(urls) && urls[i].from <= f.start
}

// union makes one edit of those that overlap. A detector's placeholder wins.
func union(list []edit) []edit {
	slices.SortStableFunc(list, func(a, b edit) int { return a.start - b.start })
	merged := list[:0]
	for _, e := range list {
		if len(merged) == 0 || e.start >= merged[len(merged)-1].end {
			merged = append(merged, e)
			continue
		}

		// The two overlap: one edit covers both.
		last := &merged[len(merged)-1]
		last.end, last.from = max(last.end, e.end), min(last.from, e.from)
		if last.rule == ruleURL && e.rule != ruleURL {
			last.with = e.with
		}
		if last.with == "" {
			last.with = e.with
		}
		last.rule = addRule(last.rule, e.rule)
	}

	return merged
}

// addRule adds rules to a list that is separated by commas.
func addRule(list, rules string) string {
	for rule := range strings.SplitSeq(rules, ", ") {
		if list == "" {
			list = rule
		} else if !slices.Contains(strings.Split(list, ", "), rule) {
			list += ", " + rule
		}
	}
	return list
}

// apply makes the edits.
func (c *cleaned) apply(edits []edit) {
	var out []byte
	at := 0
	for _, e := range edits {
		c.secrets = append(c.secrets, c.text[e.start:e.end])
		for rule := range strings.SplitSeq(e.rule, ", ") {
			if !slices.Contains(c.rules, rule) {
				c.rules = append(c.rules, rule)
			}
		}
		out = append(append(out, c.text[at:e.start]...), e.with...)
		at = e.end
	}
	c.text = append(out, c.text[at:]...)
}
