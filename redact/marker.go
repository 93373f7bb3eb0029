package redact

import (
	"slices"
	"strconv"
	"sync"

	"github.com/receiptkit/receiptkit/redact/secret"
)

// A Marker replaces secrets in texts in the same way as the protocol's own harness. Its
// placeholders are those used in session bundles: <redacted:NAME:LEN>, where LEN is the secret's
// length in bytes. Placeholders in receipts do not state a length; see [Policy].
//
// It is immutable and safe for concurrent use.
type Marker struct {
	whole urlRule                           // upstream's rule, for texts that consist of one http(s) URL
	urls  urlRule                           // for URLs with any scheme, anywhere in a text
	all   *secret.Scanner                   // all 16 patterns in one scan; most texts match none
	each  func() ([]*secret.Scanner, error) // the patterns one by one, in order, for texts that match
	names []string
}

// NewMarker returns a Marker that applies the URL rules from [Upstream] and [Default], and the
// patterns from [Upstream]. Creating a Marker takes a few milliseconds.
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

// A Marked is the result for a text in which Mark found something to replace.
type Marked struct {
	Text    []byte   // with placeholders
	Rules   []string // rules that matched, in the order of application: url, and names of patterns
	Certain bool     // at least one of the rules matches only secrets; if false, all of them are heuristics
}

// shortest is the minimum length, in bytes, of a text that can match: http://@ has eight bytes, and
// token=1 has seven.
const shortest = len("token=1")

// Mark returns a text with placeholders, and reports whether anything was found. Every URL in the
// text loses its user information and the values of its sensitive parameters. Then each pattern, in
// order, replaces its matches. These steps are repeated until nothing is found, so marking the
// result again finds nothing.
//
// The patterns are based on ASCII: they find a word boundary next to a letter from another script.
// A text is searched as a whole, regardless of its length.
func (m *Marker) Mark(text []byte) (Marked, bool) {
	if len(text) < shortest || len(m.urlEdits(text)) == 0 && len(m.all.Scan(text, nil)) == 0 {
		return Marked{}, false
	}

	// Each round applies the URL rule, and then each pattern in order.
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

// round applies each rule once, and reports whether a rule matched.
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

// urlEdits returns the edits to a text's URLs, as written and with one level of escapes removed.
func (m *Marker) urlEdits(text []byte) []edit {
	return union(m.urls.deep(m.whole.edits(nil, text), text))
}

// apply applies a rule's edits.
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

// heuristic reports whether a pattern from [Upstream] often matches texts that are not secrets. The
// last two patterns do.
func heuristic(name string) bool { return name == "bearer_token" || name == "sensitive_assignment" }
