package redact

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/receiptkit/receiptkit/redact/secret"
)

// Placeholders. None of these placeholders reveals the length of the withheld text.
const (
	placeholder = "[redacted]" // replaces an entire value
	withheld    = "[withheld]" // used by upstream for an entire prompt or payload
)

// placeholderOf returns the placeholder for a match of a detector. Upstream's placeholder also
// contains a length, after the name.
func placeholderOf(detector string) string { return "<redacted:" + detector + ">" }

// A cleaner removes everything that the detectors and the URL rule find in a string.
type cleaner struct {
	urls      urlRule
	scanner   *secret.Scanner
	detectors map[string]bool // names of detectors whose placeholders are recognized
	longest   int             // length of the longest of these names
}

// isPlaceholder reports whether text consists only of a placeholder, in which case nothing needs to
// be withheld.
func (p *cleaner) isPlaceholder(text []byte) bool {
	return string(text) == withheld || len(text) > 0 && p.placeholderAt(text) == len(text)
}

// placeholderAt returns the length of the placeholder at the beginning of text, or 0 if there is
// none. Only placeholders with the names of the policy's own detectors are recognized, because any
// other name could be a secret.
func (p *cleaner) placeholderAt(text []byte) int {
	for _, known := range []string{placeholder, withheld, urlPlaceholder} {
		if bytes.HasPrefix(text, []byte(known)) {
			return len(known)
		}
	}

	// The form is <redacted:NAME> or <redacted:NAME:LENGTH>, where NAME is no longer than the
	// longest name of a detector.
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

const maxLength = 9 // maximum number of digits in LENGTH

// pieces yields the parts of text that are between placeholders.
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

// cleaned is the result of cleaning a string.
type cleaned struct {
	text    []byte
	rules   []string // names of the rules that changed the text, if any
	secrets [][]byte // the removed parts
}

// maxRounds is the maximum number of times that a string is cleaned. Usually, one round is enough,
// because few patterns match the result of another pattern.
const maxRounds = 8

// clean removes everything that the detectors and the URL rule find in text, and repeats this until
// they find nothing. Cleaning the result again changes nothing.
func (p *cleaner) clean(text []byte) cleaned {
	c := cleaned{text: text}
	if p.isPlaceholder(text) {
		return c
	}

	// A pattern may match text that results from replacing a match of another pattern.
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

// edits returns the edits for a string, in order and without overlaps.
func (p *cleaner) edits(c *cleaned) []edit {
	urls := p.urls.edits(nil, c.text)
	var finds []edit
	p.pieces(c.text, func(start, end int) {
		piece := c.text[start:end]
		// The text is searched as written, and with one level of escapes removed.
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

	// A match is dropped if an edit of the URL rule already removes it.
	urls = union(urls)
	finds = slices.DeleteFunc(finds, func(f edit) bool { return covered(urls, f) })
	return union(append(urls, finds...))
}

// finds appends edits for the matches of detectors in a piece of a string, or in a view of the
// piece. The piece begins at start.
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

// covered reports whether the URL rule removes the entire match, except possibly the name of a
// parameter.
func covered(urls []edit, f edit) bool {
	i := sort.Search(len(urls), func(i int) bool { return urls[i].end >= f.end })
	return i < len(urls) && urls[i].from <= f.start
}

// union combines edits that overlap. If one of the edits is from a detector, the detector's
// placeholder is used.
func union(list []edit) []edit {
	slices.SortStableFunc(list, func(a, b edit) int { return a.start - b.start })
	merged := list[:0]
	for _, e := range list {
		if len(merged) == 0 || e.start >= merged[len(merged)-1].end {
			merged = append(merged, e)
			continue
		}

		// The two edits overlap, so they are combined into one edit.
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

// apply applies the edits to the text.
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
