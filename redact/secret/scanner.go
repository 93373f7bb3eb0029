package secret

import (
	"fmt"
	"strings"
	"sync"
)

// A Scanner finds secrets in texts. It comes from [Compile], does not change and
// is safe for concurrent use.
//
// A text is read once for the keywords of all detectors. A detector then looks
// only around those that each of its matches must contain, and finds what a
// search of the whole text finds. The time is linear in the length of the text,
// whatever it is.
type Scanner struct {
	detectors []compiled
	words     lexicon
	automata  int
	always    []int // detectors that search every text
	pool      *sync.Pool
}

// Compile checks detectors and prepares them for scanning. An error is a
// *[DetectorError].
func Compile(detectors []Detector) (*Scanner, error) {
	if len(detectors) > MaxDetectors {
		d := detectors[MaxDetectors]
		return nil, &DetectorError{MaxDetectors, d.Name, fmt.Sprintf("there are more than %d detectors", MaxDetectors)}
	}

	s := &Scanner{detectors: make([]compiled, len(detectors))}
	names, shared := map[string]bool{}, criteria{}
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

// Name returns the name of a detector, given its index in what Compile got.
func (s *Scanner) Name(detector int) string { return s.detectors[detector].name }

// index enters the keywords and anchors of the detectors.
func (s *Scanner) index() {
	for i := range s.detectors {
		d := &s.detectors[i]
		for _, a := range d.allow {
			for _, p := range a.patterns {
				s.number(p.automaton)
			}
		}

		switch {
		case len(d.anchors) > 0:
			s.number(d.match)
			s.number(d.tight)
			for j, a := range d.anchors {
				s.words.add(a.text, meaning{i, j})
				s.number(a.tail)
			}
		case len(d.keywords) > 0:
			for _, k := range d.keywords {
				s.words.add(k, meaning{i, -1})
			}
		default:
			s.always = append(s.always, i)
		}
	}
	s.words.build()
}

// number gives an automaton its place among those of the scanner.
func (s *Scanner) number(a *automaton) {
	if a.id == 0 {
		s.automata++
		a.id = s.automata
	}
}

// Scan appends the secrets in a text to found: in order, and none overlaps
// another. Where the finds of two detectors overlap, the earlier detector's is
// the one; a later one with a Group lengthens it to what both cover, so that no
// rest of a secret remains, and one without a Group is dropped.
func (s *Scanner) Scan(text []byte, found []Span) []Span {
	var w *work
	for i := s.words.first(text, 0); i < len(text); i = s.words.first(text, i+1) {
		w = s.words.follow(w, s, text, i)
	}
	if w == nil && len(s.always) == 0 {
		return found
	}
	w = s.begin(w, text)
	found = w.finish(found)
	w.s, w.text = nil, nil
	s.pool.Put(w)
	return found
}

// Knows reports whether a name may be one that a detector looks for.
func (s *Scanner) Knows(name []byte) bool { return s.words.has(name) }

func (s *Scanner) begin(w *work, text []byte) *work {
	if w == nil {
		w = s.pool.Get().(*work)
		w.s, w.text = s, text
		for _, i := range s.always {
			w.of(i).search = true
		}
	}
	return w
}
