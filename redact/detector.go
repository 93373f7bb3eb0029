package redact

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// A Detector finds secrets of one kind in text.
type Detector struct {
	Name      string      // of a-z, 0-9, _ and -
	Pattern   string      // as package regexp reads it
	Group     int         // the submatch that is the secret; 0: the whole match; or FirstGroup
	Keywords  []string    // lower case; a text without any of them is not searched. Empty: always searched
	Entropy   float64     // the secret has at least this Shannon entropy, in bits per byte; 0: any
	Allow     []string    // patterns; a secret that one of them matches, or whose whole match one does, is none
	StopWords []string    // a secret that contains one, in upper or lower case, is none
	Allowed   []Allowance // further secrets that are none
}

// FirstGroup as a [Detector]'s Group means the first submatch that is not empty,
// or the whole match when there is none.
const FirstGroup = -1

// An Allowance says which finds of a detector are not secrets: one criterion that
// is met suffices, or with All every kind of criterion that is given.
type Allowance struct {
	Patterns  []string
	Target    Target   // what Patterns are compared with
	StopWords []string // the secret contains one, in upper or lower case
	All       bool
}

// A Target is a part of the text around a secret.
type Target int

const (
	TargetSecret Target = iota // the secret itself
	TargetMatch                // all that the detector's pattern matched
	TargetLine                 // the lines that the match lies in, of each side at most 1,024 bytes
	TargetWord                 // the match, and the rest of the word that it begins in: letters, digits, _, - and ., at most 64
)

// maxLine is what an allowance sees of a line beside a match: the line of a
// receipt on one line is long, and is not read again for each find.
const (
	maxLine = 1024
	maxWord = 64
)

// A Span is a secret in a text: the bytes from Start to before End, found by the
// detector with that index.
type Span struct {
	Start, End int
	Detector   int
}

// A DetectorError says which detector of a list is of no use, and why.
type DetectorError struct {
	Index  int    // in the list given to Compile
	Name   string // as given
	Reason string
}

func (e *DetectorError) Error() string {
	return fmt.Sprintf("redact: detector %d (%q): %s", e.Index, e.Name, e.Reason)
}

// Limits of what Compile takes. gitleaks has 222 detectors, a keyword has seldom
// more than 30 letters.
const (
	MaxDetectors = 2_000
	MaxPattern   = 8 << 10 // bytes of a pattern
	maxKeyword   = 256
)

// Compile checks detectors and prepares them for scanning. An error is a
// *[DetectorError].
func Compile(detectors []Detector) (*Scanner, error) {
	if len(detectors) > MaxDetectors {
		d := detectors[MaxDetectors]
		return nil, &DetectorError{MaxDetectors, d.Name, fmt.Sprintf("there are more than %d detectors", MaxDetectors)}
	}

	s := &Scanner{detectors: make([]compiled, len(detectors))}
	names, shared := map[string]bool{}, programs{}
	for i, d := range detectors {
		reason := checkName(d.Name)
		if names[d.Name] {
			reason = "another detector has that name"
		}
		names[d.Name] = true
		if reason == "" {
			reason = s.detectors[i].compile(d, shared)
		}
		if reason != "" {
			return nil, &DetectorError{i, d.Name, reason}
		}
	}

	s.index()
	s.pool = &sync.Pool{New: func() any {
		return &work{progress: make([]progress, len(s.detectors)), states: make([]*states, s.automata)}
	}}
	return s, nil
}

func checkName(name string) string {
	if name == "" {
		return "it has no name"
	}
	if i := strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}); i >= 0 {
		return "expected a name of a-z, 0-9, _ and -"
	}
	return ""
}

// A compiled detector can search a text in three ways, which find the same: all
// of it; the neighbourhood of places where one of its anchors occurs; or just
// the places where a match must begin, given where an anchor ends.
type compiled struct {
	name     string
	group    int
	keywords []string
	entropy  float64
	allow    []allowance

	whole   *program // searches the text
	within  *program // searches a part of it; when back is set, one that is preceded by one rune
	begins  *program // matches at the beginning of a part only; nil: where a match begins is not known
	back    bool     // the pattern sees what stands before a match
	anchors []anchor // one of them is in every match, and with it one of the keywords; none: whole is to be used
	before  int      // no match begins more bytes before an anchor
	match   *automaton
}

type allowance struct {
	patterns  []*program
	target    Target
	either    bool // patterns are compared with the secret and with the match
	stopWords []string
	all       bool
}

// compile returns what is wrong with a detector, or nothing.
func (c *compiled) compile(d Detector, shared programs) string {
	if len(d.Pattern) > MaxPattern {
		return fmt.Sprintf("the pattern has more than %d bytes", MaxPattern)
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

	// What the detector itself allows is one allowance more, and may also meet the whole match.
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

func compileAllowance(a Allowance, shared programs) (allowance, string) {
	c := allowance{target: a.Target, all: a.All}
	if a.Target < TargetSecret || a.Target > TargetWord {
		return c, "an allowance has an unknown target"
	}

	for _, p := range a.Patterns {
		if len(p) > MaxPattern {
			return c, fmt.Sprintf("an allowance has a pattern of more than %d bytes", MaxPattern)
		}
		compiled, err := shared.get(p)
		if err != nil {
			return c, "an allowance: " + explain(err)
		}
		c.patterns = append(c.patterns, compiled)
	}

	for _, w := range a.StopWords {
		if w == "" {
			return c, "a stop word is empty"
		}
		c.stopWords = append(c.stopWords, lower(w))
	}

	return c, ""
}

// A program is a valid pattern that is compiled when a text first needs it: of
// some hundred detectors most receipts need none, and compiling them all takes
// longer than verifying a thousand receipts.
type program struct {
	pattern string
	once    sync.Once
	regexp  *regexp.Regexp
}

// newProgram parses a pattern; what can be parsed can be compiled.
func newProgram(pattern string) (*program, error) {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, err
	}
	return &program{pattern: pattern}, nil
}

// programs are what several detectors allow: each is compiled once.
type programs map[string]*program

func (s programs) get(pattern string) (p *program, err error) {
	if s[pattern] == nil {
		s[pattern], err = newProgram(pattern)
	}
	return s[pattern], err
}

func (p *program) get() *regexp.Regexp {
	p.once.Do(func() { p.regexp = regexp.MustCompile(p.pattern) })
	return p.regexp
}

// explain says why a pattern is invalid without repeating it.
func explain(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return "the pattern is invalid: " + e.Code.String()
	}
	return "the pattern is invalid"
}

// lower returns a text with its ASCII letters in lower case: what keywords and
// stop words are compared in.
func lower(text string) string { return strings.Map(fold, text) }
