package match

import (
	"slices"
	"unicode/utf8"
)

// A work is the state of a single scan.
type work struct {
	s        *Scanner
	text     []byte
	progress []progress // of each detector
	states   []*states  // of each automaton
	begun    []int      // detectors with progress
	finds    []Span
	kept     [2][]Span
	settled  map[[2]int]int // the first detector of each secret that has been found
	plain    bool           // use only regular expressions, for comparison in tests
}

// A progress value is the state of one detector in a scan.
type progress struct {
	begun    bool
	search   bool // search the entire text
	sweep    bool // too many bytes were read twice, so regions are searched instead of single positions
	open     bool // the region between from and to must still be searched
	from, to int
	end      int // end of the last match
	spent    int // number of bytes read while trying positions
	walked   int // number of bytes read after anchors
	tried    int // number of bytes read from positions where a match may begin
	beyond   int // end of the text that could continue an anchor but did not result in a match
}

// statesOf returns the states of an automaton.
func (w *work) statesOf(a *automaton) *states {
	if a.id > len(w.states) {
		w.states = append(w.states, make([]*states, a.id-len(w.states))...)
	}
	s := w.states[a.id-1]
	if s == nil {
		s = newStates(a)
		w.states[a.id-1] = s
	}
	return s
}

func (w *work) of(detector int) *progress {
	p := &w.progress[detector]
	if !p.begun {
		p.begun = true
		w.begun = append(w.begun, detector)
	}
	return p
}

// see processes an occurrence of a keyword or an anchor.
func (w *work) see(m meaning, start, end int) {
	d, p := w.s.detector(m.detector), w.of(m.detector)
	if m.anchor < 0 {
		p.search = true
		return
	}

	// The quick test is first.
	a := &d.anchors[m.anchor]
	if a.next != nil && !a.next.behind(w.text, end) {
		return
	}

	// Skip positions before the end of the last match and positions in a region that extends to the
	// end of the text.
	begin := start - d.before
	if d.placed && begin < p.end || p.open && p.to == len(w.text) {
		return
	}

	// The automaton now follows the rest of the pattern, unless this has already cost too much.
	limit := -1
	if !p.sweep {
		there := w.statesOf(a.tail).ahead(w.text, end, len(w.text))
		p.walked += there.read - end
		if !there.found {
			p.beyond = max(p.beyond, there.to)
			p.sweep = p.walked > 4*len(w.text)+1<<14
			return
		}
		limit = there.to
		p.spent += max(0, limit-begin)
		p.sweep = limit < 0 || p.walked > 4*len(w.text)+1<<14 || p.spent > len(w.text)+1<<14
		if d.placed && !p.sweep {
			if w.try(m.detector, p, begin, limit) {
				return
			}
			p.sweep = true
		}
	}

	// Adjacent regions are combined into one region.
	from := align(w.text, max(begin, p.end))
	if !p.open || from >= p.to {
		w.sweep(m.detector, p)
		p.open, p.from, p.to = true, max(from, p.end), end
	}
	if limit < 0 {
		limit = a.right.from(w.text, end, p.to)
	}
	p.to = max(p.to, limit)
}

// try searches for a match that begins at one position. It returns false if a match extends beyond
// limit, where the text is cut.
func (w *work) try(detector int, p *progress, begin, limit int) bool {
	part := w.text[:min(limit+utf8.UTFMax, len(w.text))] // \b and $ test one more rune
	at, base := w.s.detector(detector).here(part, begin)
	switch {
	case at == nil:
	case base+at[1] > limit:
		return false
	default:
		p.end = base + at[1]
		w.take(detector, at, base)
	}
	return true
}

// sweep searches the open region.
func (w *work) sweep(detector int, p *progress) {
	if !p.open {
		return
	}
	p.open = false
	d := w.s.detector(detector)
	end := min(max(p.to, p.beyond)+utf8.UTFMax, len(w.text)) // \b and $ test one more rune
	automaton := w.statesOf(d.match)

	for from := p.from; from < p.to; {
		there := automaton.search(w.text, from, p.to, end)
		p.walked += there.read - from
		if !there.found {
			return
		}

		// For this part of the text, only the regular expression is reliable.
		from = max(from, align(w.text, there.from))
		at, base, known := w.leftmost(d, p, from, there, end)
		if !known {
			at, base = d.first(w.text[:min(there.to+utf8.UTFMax, end)], from)
		}
		if at == nil || base+at[1] > there.to {
			if from = there.read; align(w.text, from) < from {
				from = letterEnd(w.text, from)
			}
			continue
		}
		if base+at[1] > p.to {
			return
		}

		p.end = base + at[1]
		from = p.end
		w.take(detector, at, base)
	}
}

// leftmost returns the first match that begins within a stretch. It tries each position that the
// automaton does not exclude, because a regular expression that may match anywhere would follow
// matches from all positions at once. The result known is false if the program d.at could not be
// compiled, if too much of the text would be read again, or if a match may extend beyond end, where
// the text is cut.
func (w *work) leftmost(d *compiled, p *progress, from int, there stretch, end int) (at []int, base int, known bool) {
	if p.tried > 8*len(w.text)+1<<14 || d.at.get() == nil {
		return nil, 0, false
	}

	tight := w.statesOf(d.tight)
	for begin := from; begin < there.read; {
		here := tight.ahead(w.text, begin, end)
		if p.tried += here.read - begin + 1; p.tried > 8*len(w.text)+1<<14 || here.to < 0 {
			return nil, 0, false
		}

		if here.found {
			if at, base = d.here(w.text[:min(here.to+utf8.UTFMax, end)], begin); at != nil {
				return at, base, true
			}
		}
		_, n := utf8.DecodeRune(w.text[begin:])
		begin += n
	}

	return nil, 0, true
}

// take keeps a match if it is a secret. The positions in at are relative to base.
func (w *work) take(detector int, at []int, base int) {
	d := w.s.detector(detector)
	start, end := submatch(at, d.group)
	if start >= end {
		return
	}

	start, end = start+base, end+base
	if by, ok := w.settled[[2]int{start, end}]; ok && by < detector {
		return // the match would not change the result
	}

	// Computing the entropy is cheaper than comparing the patterns of allowances.
	secret := w.text[start:end]
	if d.entropy > 0 && entropy(secret) < d.entropy {
		return
	}

	for i := range d.allow {
		if d.allow[i].meets(w, secret, base+at[0], base+at[1]) {
			return
		}
	}

	w.finds = append(w.finds, Span{start, end, detector})
	if d.group != 0 {
		w.settle(start, end, detector)
	}
}

// settle records a secret that merge will never drop.
func (w *work) settle(start, end, detector int) {
	if w.settled == nil {
		w.settled = map[[2]int]int{}
	}
	if by, ok := w.settled[[2]int{start, end}]; !ok || detector < by {
		w.settled[[2]int{start, end}] = detector
	}
}

// finish searches all open regions and combines the matches into secrets.
func (w *work) finish(found []Span) []Span {
	slices.Sort(w.begun) // a later detector does not have to find the secrets of an earlier detector again
	for _, i := range w.begun {
		p := &w.progress[i]
		if w.sweep(i, p); p.search {
			for _, at := range w.s.detector(i).whole.get().FindAllSubmatchIndex(w.text, -1) {
				w.take(i, at, 0)
			}
		}
		*p = progress{}
	}

	// Matches are sorted by detector and then by position, as merge requires.
	slices.SortFunc(w.finds, func(a, b Span) int {
		if a.Detector != b.Detector {
			return a.Detector - b.Detector
		}
		return a.Start - b.Start
	})

	// The matches are merged one detector at a time. The two lists are used alternately.
	kept, next := w.kept[0][:0], w.kept[1][:0]
	for rest := w.finds; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Detector == rest[0].Detector {
			n++
		}
		next = merge(next[:0], kept, rest[:n], w.s.detector(rest[0].Detector).group != 0)
		kept, next, rest = next, kept, rest[n:]
	}

	// The memory is kept for the next text.
	found = append(found, kept...)
	clear(w.settled)
	w.kept, w.begun, w.finds = [2][]Span{kept, next}, w.begun[:0], w.finds[:0]
	return found
}

// submatch returns the position of a submatch, or an empty range if the submatch did not
// participate in the match.
func submatch(at []int, group int) (start, end int) {
	if group >= 0 {
		return at[2*group], at[2*group+1]
	}
	for i := 2; i < len(at); i += 2 {
		if at[i] < at[i+1] {
			return at[i], at[i+1]
		}
	}
	return at[0], at[1]
}

// align returns the beginning of the rune that contains the given position.
func align(text []byte, at int) int {
	for back := 1; back < utf8.UTFMax && back <= at; back++ {
		if _, n := utf8.DecodeRune(text[at-back:]); n > back {
			return at - back
		}
	}
	return at
}
