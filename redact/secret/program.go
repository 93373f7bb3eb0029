package secret

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
