package redact

import (
	"slices"
	"strconv"
	"sync"

	"github.com/receiptkit/receiptkit/redact/secret"
)

// A Marker replaces secrets in text in the same way as the protocol's own harness. Its placeholders
// are those of session bundles: <redacted:NAME:LEN>, where LEN is the length of the secret in
// bytes. The placeholders in receipts do not contain a length; see [Policy].
//
// A Marker is immutable and safe for concurrent use.
type Marker struct {
	whole urlRule                           // upstream's rule, for text that consists of a single http(s) URL
	urls  urlRule                           // for URLs with any scheme, anywhere in the text
	all   *secret.Scanner                   // all 16 patterns in one scan, which most text does not match
	each  func() ([]*secret.Scanner, error) // the individual patterns, in order, for text that matches
	names []string
}

// NewMarker returns a Marker with the patterns from [Upstream] and the URL rules from [Upstream]
// and [Default]. Creating a Marker takes a few milliseconds.
func NewMarker() (*Marker, error) {
	patterns := secret.Upstream()
	all, err := secret.Compile(patterns)
	if err != nil {
		return nil, err
	}

	m := &Marker{whole: newURLRule(URLsWhole, false), urls: newURLRule(URLsAnywhere, true), all: all}
	for _, p := range patterns {
		m.names = append(m.names, p.Name)
	}
	m.each = sync.OnceValues(func() (each []*secret.Scanner, err error) {
		for _, p := range patterns {
			one, err := secret.Compile([]secret.Detector{p})
			if err != nil {
				return nil, err
			}
			each = append(each, one)
		}
		return each, nil
	})
	return m, nil
}

// A Marked value contains text in which Mark has replaced something, and the rules that matched.
type Marked struct {
	Text    []byte   // with placeholders
	Rules   []string // the rules that matched, in the order in which they were applied: url, and the names of patterns
	Certain bool     // whether at least one of the rules matches only secrets; if not, all of the rules are heuristics
}

// shortest is the minimum length, in bytes, of text that can match: token=1 has seven bytes, and
// http://@ has eight.
const shortest = len("token=1")

// Mark replaces secrets in text with placeholders, and reports whether it found any. It removes the
// user information and the values of sensitive parameters from every URL in the text. Then it
// replaces the matches of each pattern, in order. These steps are repeated until nothing is found,
// so marking the result again changes nothing.
//
// The patterns treat only ASCII letters as letters, so there is a word boundary next to a letter
// from another script. The entire text is searched, regardless of its length.
func (m *Marker) Mark(text []byte) (Marked, bool) {
	if len(text) < shortest || len(m.urlEdits(text)) == 0 && len(m.all.Scan(text, nil)) == 0 {
		return Marked{}, false
	}

	// Each round applies the URL rule and then the individual patterns, in order.
	marked := Marked{Text: text}
	each, err := m.each()
	for range maxRounds {
		if err == nil && !m.round(&marked, each) {
			return marked, true
		}
	}

	// The limit has been reached, so the entire text is replaced.
	marked.Text = []byte(placeholder)
	return marked, true
}

// round applies each rule once, and reports whether any rule matched.
func (m *Marker) round(marked *Marked, each []*secret.Scanner) bool {
	urls := m.urlEdits(marked.Text)
	found := len(urls) > 0
	if found {
		marked.apply(ruleURL, urls)
	}

	for i, one := range each {
		spans := one.Scan(marked.Text, nil)
		if len(spans) == 0 {
			continue
		}
		found = true
		var edits []edit
		for _, s := range spans {
			with := "<redacted:" + m.names[i] + ":" + strconv.Itoa(s.End-s.Start) + ">"
			edits = append(edits, edit{start: s.Start, end: s.End, with: with})
		}
		marked.apply(m.names[i], edits)
	}

	return found
}

// urlEdits returns the edits for the URLs in text, both as written and with one level of escapes
// removed.
func (m *Marker) urlEdits(text []byte) []edit {
	return union(m.urls.deep(m.whole.edits(nil, text), text))
}

// apply applies the edits of a rule.
func (marked *Marked) apply(rule string, edits []edit) {
	text := make([]byte, 0, len(marked.Text))
	at := 0
	for _, e := range edits {
		text = append(append(text, marked.Text[at:e.start]...), e.with...)
		at = e.end
	}
	marked.Text = append(text, marked.Text[at:]...)

	if !slices.Contains(marked.Rules, rule) {
		marked.Rules = append(marked.Rules, rule)
	}
	marked.Certain = marked.Certain || !heuristic(rule)
}

// heuristic reports whether a pattern from [Upstream] often matches text that is not a secret. This
// is true for the last two patterns.
func heuristic(name string) bool { return name == "bearer_token" || name == "sensitive_assignment" }
