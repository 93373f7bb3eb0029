package match

import (
	"regexp"
	"regexp/syntax"
	"sync"
)

// A program is a valid pattern that is compiled only when it is first needed. Most receipts need
// none of the several hundred detectors, and compiling all of them takes longer than verifying a
// thousand receipts.
type program struct {
	pattern string
	once    sync.Once
	regexp  *regexp.Regexp
}

// newProgram parses a pattern, which is compiled later.
func newProgram(pattern string) (*program, error) {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, err
	}
	return &program{pattern: pattern}, nil
}

// get returns nil only for a pattern that is too large and was not parsed before.
func (p *program) get() *regexp.Regexp {
	p.once.Do(func() { p.regexp, _ = regexp.Compile(p.pattern) })
	return p.regexp
}

// A criterion is a pattern that is compared with many short strings. For most of these strings, its
// automaton alone determines the result.
type criterion struct {
	program
	automaton *automaton
}

// criteria contains the patterns that several detectors share. Each of these patterns is compiled
// only once.
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

// met reports whether text matches the criterion. If the automaton cannot determine that, the
// regular expression does.
func (c *criterion) met(w *work, text []byte) bool {
	if w.plain {
		return c.get().Match(text)
	}
	may, sure := w.statesOf(c.automaton).matches(text)
	return may && (sure || c.get().Match(text))
}
