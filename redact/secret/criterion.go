package secret

import "regexp/syntax"

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
