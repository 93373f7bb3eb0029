package secret

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// A Scanner finds secrets in texts. It comes from [Compile], does not change and
// is safe for concurrent use.
//
// A text is read once for the keywords of all detectors. A detector then looks
// only around those that each of its matches must contain, and finds what a
// search of the whole text finds. The time is linear in the length of the text,
// whatever it is.
type Scanner struct {
	detectors []lazy
	words     lexicon
	always    []int // detectors that search every text
	pool      *sync.Pool

	compiling sync.Mutex // of what follows
	shared    criteria
	automata  int
}

// A lazy detector is compiled when a text first has one of its words, if these are known.
type lazy struct {
	source   Detector
	ready    atomic.Bool
	compiled compiled
}

// Compile checks detectors and prepares them for scanning. An error is a
// *[DetectorError].
func Compile(detectors []Detector) (*Scanner, error) {
	if len(detectors) > MaxDetectors {
		d := detectors[MaxDetectors]
		return nil, &DetectorError{MaxDetectors, d.Name, fmt.Sprintf("there are more than %d detectors", MaxDetectors)}
	}

	s := &Scanner{detectors: make([]lazy, len(detectors)), shared: criteria{}}
	s.words.words = make([]entry, 0, 8*len(detectors))
	names, known, digests := make(map[string]bool, len(detectors)), knowledgeOf(), digester{}
	for i, d := range detectors {
		reason := checkName(d.Name)
		if names[d.Name] {
			reason = "another detector has that name"
		}
		names[d.Name] = true

		s.detectors[i].source = d
		if found, ok := known[digests.of(&d)]; ok && reason == "" {
			s.index(i, found)
			continue
		}

		if reason == "" {
			reason = s.compile(i)
		}
		if reason != "" {
			return nil, &DetectorError{i, d.Name, reason}
		}
		s.index(i, s.detectors[i].compiled.knowledge())
	}

	s.words.build()
	s.pool = &sync.Pool{New: func() any { return &work{progress: make([]progress, len(s.detectors))} }}
	return s, nil
}

// detector returns a detector, compiled.
func (s *Scanner) detector(i int) *compiled {
	d := &s.detectors[i]
	if !d.ready.Load() {
		if reason := s.compile(i); reason != "" {
			panic(reason) // what is known was compiled before
		}
	}
	return &d.compiled
}

// compile compiles a detector, unless that was done meanwhile, and returns what is wrong
// with it, or nothing.
func (s *Scanner) compile(i int) (reason string) {
	s.compiling.Lock()
	defer s.compiling.Unlock()
	d := &s.detectors[i]
	if d.ready.Load() {
		return ""
	}
	if reason = d.compiled.compile(d.source, s.shared); reason != "" {
		return reason
	}

	for _, a := range d.compiled.allow {
		for _, p := range a.patterns {
			s.number(p.automaton)
		}
	}
	if len(d.compiled.anchors) > 0 {
		s.number(d.compiled.match)
		s.number(d.compiled.tight)
	}
	for _, a := range d.compiled.anchors {
		s.number(a.tail)
	}

	d.ready.Store(true)
	return ""
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
func (s *Scanner) Name(detector int) string { return s.detectors[detector].source.Name }

// index enters what a detector is found by.
func (s *Scanner) index(i int, by knowledge) {
	for j, text := range by.anchors {
		s.words.add(text, meaning{i, j})
	}
	for _, k := range by.keywords {
		s.words.add(k, meaning{i, -1})
	}
	if len(by.anchors)+len(by.keywords) == 0 {
		s.always = append(s.always, i)
	}
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
