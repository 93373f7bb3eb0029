package redact

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/receiptkit/receiptkit/redact/secret"
)

// Placeholders. None of the placeholders reveals the length of the withheld text.
const (
	placeholder = "[redacted]" // for an entire value
	withheld    = "[withheld]" // upstream's, for an entire prompt or payload
)

// placeholderOf returns the placeholder for a match of a detector. Upstream's placeholder states
// the length after the name.
func placeholderOf(detector string) string { return "<redacted:" + detector + ">" }

// A cleaner removes from texts everything that detectors and the URL rule find.
type cleaner struct {
	urls      urlRule
	scanner   *secret.Scanner
	detectors map[string]bool // names whose placeholders are recognized
	longest   int             // length of the longest of these names
}

// isPlaceholder reports whether a text consists only of a placeholder, so that there is nothing to
// withhold.
func (p *cleaner) isPlaceholder(text []byte) bool {
	return string(text) == withheld || len(text) > 0 && p.placeholderAt(text) == len(text)
}

// placeholderAt returns the length of the placeholder with which a text begins, or 0. Only the
// names of the policy's own detectors are recognized, because any other name could be a secret.
func (p *cleaner) placeholderAt(text []byte) int {
	for _, known := range []string{placeholder, withheld, urlPlaceholder} {
		if bytes.HasPrefix(text, []byte(known)) {
			return len(known)
		}
	}

	// <redacted:NAME> or <redacted:NAME:LENGTH>, with a name that is no longer than the longest
	// detector name.
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

const maxLength = 9 // digits that form a length

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

// A cleaned is a text after cleaning.
type cleaned struct {
	text    []byte
	rules   []string // names of the rules that changed the text; empty if it is unchanged
	secrets [][]byte // the removed parts
}

// maxRounds is the maximum number of rounds in which a text is cleaned. One round suffices, unless
// a pattern matches another pattern's result.
const maxRounds = 8

// clean repeatedly removes from a text everything that the detectors and the URL rule find, until
// they find nothing. Cleaning the result again changes nothing.
func (p *cleaner) clean(text []byte) cleaned {
	c := cleaned{text: text}
	if p.isPlaceholder(text) {
		return c
	}

	// A pattern may match another pattern's result.
	for range maxRounds {
		edits := p.edits(&c)
		if len(edits) == 0 {
			return c
		}
		c.apply(edits)
	}

	// The limit has been reached, so the entire text is replaced.
	c.text = []byte(placeholder)
	return c
}

// edits returns the changes, in order and without overlaps.
func (p *cleaner) edits(c *cleaned) []edit {
	urls := p.urls.edits(nil, c.text)
	var finds []edit
	p.pieces(c.text, func(start, end int) {
		piece := c.text[start:end]
		// Search the text as is, and with one level of escapes removed.
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

	// A match is redundant where the URL is changed anyway.
	urls = union(urls)
	finds = slices.DeleteFunc(finds, func(f edit) bool { return covered(urls, f) })
	return union(append(urls, finds...))
}

// finds appends the detectors' matches in a piece of a text that begins at start, or in a view of
// that piece.
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

// covered reports whether the URL rule removes a match, so that only the name of a parameter
// remains.
func covered(urls []edit, f edit) bool {
	i := sort.Search(len(urls), func(i int) bool { return urls[i].end >= f.end })
	return i < len(urls) && urls[i].from <= f.start
}

// union merges edits that overlap. A detector's placeholder takes precedence.
func union(list []edit) []edit {
	slices.SortStableFunc(list, func(a, b edit) int { return a.start - b.start })
	merged := list[:0]
	for _, e := range list {
		if len(merged) == 0 || e.start >= merged[len(merged)-1].end {
			merged = append(merged, e)
			continue
		}

		// The two edits overlap, so one edit covers both.
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

// addRule adds rules to a comma-separated list.
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

// apply applies the edits.
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
