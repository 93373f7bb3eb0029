package match

import (
	"regexp"
	"regexp/syntax"
	"sync"
)

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

// get returns nil only for a pattern that was not parsed before, and is too large.
func (p *program) get() *regexp.Regexp {
	p.once.Do(func() { p.regexp, _ = regexp.Compile(p.pattern) })
	return p.regexp
}

// A criterion is a pattern that short texts are compared with, one after the other. Its
// automaton says of most of them that they do not match, or that they do.
type criterion struct {
	program
	automaton *automaton
}

// criteria are what several detectors allow: each is compiled once.
type criteria map[string]*criterion

func (s criteria) get(pattern string) (*criterion, error) {
	if c := s[pattern]; c != nil {
		return c, nil
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	s[pattern] = &criterion{program: program{pattern: pattern}, automaton: &automaton{tree: tree, loose: true}}
	return s[pattern], nil
}

// met reports whether a text matches. Where the automaton is not sure, the regular
// expression decides.
func (c *criterion) met(w *work, text []byte) bool {
	if w.plain {
		return c.get().Match(text)
	}
	may, sure := w.statesOf(c.automaton).matches(text)
	return may && (sure || c.get().Match(text))
}
