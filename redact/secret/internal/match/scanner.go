package match

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// A Scanner finds secrets in text. Compile returns one. A Scanner is immutable and safe for
// concurrent use.
//
// Scan reads its input once to find the words of all detectors. A detector then searches only
// around the words that each of its matches must contain, with the same result as searching the
// entire text. The running time is linear in the length of the text.
type Scanner struct {
	detectors []lazy
	words     lexicon
	always    []int // detectors that search every string
	pool      *sync.Pool

	compiling sync.Mutex // protects the fields below
	shared    criteria
	automata  int
}

// A lazy detector is compiled when it is first needed. If its words are known, it is needed as soon
// as one of them is found.
type lazy struct {
	source   Detector
	ready    atomic.Bool
	compiled compiled
}

// Compile checks the detectors and prepares them for scanning. Given the index of a detector that
// is known to be valid, the function known returns the detector's words. Such a detector is
// compiled only when it is needed. The error is an *[Error].
func Compile(detectors []Detector, known func(detector int) (Knowledge, bool)) (*Scanner, error) {
	if len(detectors) > maxDetectors {
		d := detectors[maxDetectors]
		return nil, &Error{maxDetectors, d.Name, fmt.Sprintf("there are more than %d detectors", maxDetectors)}
	}

	s := &Scanner{detectors: make([]lazy, len(detectors)), shared: criteria{}}
	s.words.words = make([]entry, 0, 8*len(detectors))
	names := make(map[string]bool, len(detectors))
	for i, d := range detectors {
		reason := checkName(d.Name)
		if names[d.Name] {
			reason = "another detector has that name"
		}
		names[d.Name] = true

		s.detectors[i].source = d
		by, valid := known(i)
		if !valid && reason == "" {
			reason = s.compile(i)
			by = s.detectors[i].compiled.knowledge()
		}
		if reason != "" {
			return nil, &Error{i, d.Name, reason}
		}
		s.index(i, by)
	}

	s.words.build()
	s.pool = &sync.Pool{New: func() any { return &work{progress: make([]progress, len(s.detectors))} }}
	return s, nil
}

// detector returns the detector with the given index, compiled.
func (s *Scanner) detector(i int) *compiled {
	d := &s.detectors[i]
	if !d.ready.Load() {
		if reason := s.compile(i); reason != "" {
			panic(reason) // cannot happen, because a known detector is valid
		}
	}
	return &d.compiled
}

// compile compiles the detector with the given index unless it has been compiled before. It returns
// a description of the fault if the detector is invalid, and "" otherwise.
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
		return "expected a name that consists of a-z, 0-9, _, and -"
	}
	return ""
}

// Name returns the name of a detector, given its index in the list passed to Compile.
func (s *Scanner) Name(detector int) string { return s.detectors[detector].source.Name }

// index adds the words of a detector to the lexicon.
func (s *Scanner) index(i int, by Knowledge) {
	for j, text := range by.Anchors {
		s.words.add(text, meaning{i, j})
	}
	for _, k := range by.Keywords {
		s.words.add(k, meaning{i, -1})
	}
	if len(by.Anchors)+len(by.Keywords) == 0 {
		s.always = append(s.always, i)
	}
}

// number assigns an index in the scanner to an automaton.
func (s *Scanner) number(a *automaton) {
	if a.id == 0 {
		s.automata++
		a.id = s.automata
	}
}

// Scan appends the locations of the secrets in text to found, in order and without overlaps. If the
// matches of two detectors overlap, the result names the earlier detector. If the later detector
// has a Group, the match is extended to cover both matches, so that no part of a secret remains. If
// the later detector has no Group, its match is dropped.
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

// Knowledge returns the words by which the scanner determines when it needs the detector with the
// given index.
func (s *Scanner) Knowledge(detector int) Knowledge { return s.detector(detector).knowledge() }

// Knows reports whether name contains a word of a detector or ends with the beginning of one.
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

// A Span is the location of a secret in a string: the bytes from Start up to, but not including,
// End. Detector is the index of the detector that found the secret.
type Span struct {
	Start, End int
	Detector   int
}

// merge combines the matches of earlier detectors with the matches of one later detector, and
// appends the result to list. If a later match overlaps an earlier match, it extends the earlier
// match or is dropped.
func merge(list, earlier, later []Span, lengthen bool) []Span {
	i := 0
	for _, l := range later {
		for i < len(earlier) && earlier[i].End <= l.Start {
			list = append(list, earlier[i])
			i++
		}

		// This match overlaps no earlier match.
		if i == len(earlier) || earlier[i].Start >= l.End {
			list = append(list, l)
			continue
		}
		if !lengthen {
			continue
		}

		// Overlapping matches are combined into one secret, which covers all of them and has the
		// name of the earliest detector.
		for i < len(earlier) && earlier[i].Start < l.End {
			e := earlier[i]
			l = Span{min(l.Start, e.Start), max(l.End, e.End), min(l.Detector, e.Detector)}
			i++
		}
		i--
		earlier[i] = l // the next match may also overlap the combined match
	}

	return append(list, earlier[i:]...)
}
