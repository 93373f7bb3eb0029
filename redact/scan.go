package redact

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"unicode/utf8"
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

// Name returns the name of a detector, given its index in what Compile got.
func (s *Scanner) Name(detector int) string { return s.detectors[detector].name }

// index enters the keywords and anchors of the detectors.
func (s *Scanner) index() {
	for i := range s.detectors {
		d := &s.detectors[i]
		switch {
		case len(d.anchors) > 0:
			s.number(d.match)
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

// knows reports whether a name may be one that a detector looks for.
func (s *Scanner) knows(name []byte) bool { return s.words.has(name) }

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

// A work is one scan.
type work struct {
	s        *Scanner
	text     []byte
	progress []progress // of each detector
	states   []*states  // of each automaton
	begun    []int      // detectors with progress
	finds    []Span
	kept     [2][]Span
	settled  map[[2]int]int // of secrets that are found, the first detector
}

// A progress says how far a detector is with a text.
type progress struct {
	begun    bool
	search   bool // the whole text is to be searched
	sweep    bool // too much was read twice: search regions instead of matching at places
	open     bool // a region from from to to is to be searched
	from, to int
	end      int // of the last match
	spent    int // bytes read by matching at places
	walked   int // bytes read after anchors
	beyond   int // up to here something went on that was no match
}

// statesOf returns the states of an automaton.
func (w *work) statesOf(a *automaton) *states {
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

// see follows up a keyword or an anchor.
func (w *work) see(m meaning, start, end int) {
	d, p := &w.s.detectors[m.detector], w.of(m.detector)
	if m.anchor < 0 {
		p.search = true
		return
	}

	// What has to follow is looked for first, which costs least.
	a := &d.anchors[m.anchor]
	if a.next != nil && !a.next.behind(w.text, end) {
		return
	}

	// Nothing is to be found before the end of the last match, nor in a region that is open to
	// the end of the text.
	begin := start - d.before
	if d.begins != nil && begin < p.end || p.open && p.to == len(w.text) {
		return
	}

	// The rest of the pattern is followed from here, unless that has cost too much already.
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
		if d.begins != nil && !p.sweep {
			if w.try(m.detector, p, begin, limit) {
				return
			}
			p.sweep = true
		}
	}

	// Regions that touch are searched as one.
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

// from returns where a reach from a place ends, or a later place that is not
// before least.
func (r reach) from(text []byte, at, least int) int {
	at = max(at, least)
	for _, s := range r {
		if at += s.n; at >= len(text) {
			return len(text)
		}
		for s.run != nil && at < len(text) && s.run[text[at]] {
			at++
		}
	}
	return at
}

// align returns the beginning of the rune that a place is in.
func align(text []byte, at int) int {
	for back := 1; back < utf8.UTFMax && back <= at; back++ {
		if _, n := utf8.DecodeRune(text[at-back:]); n > back {
			return at - back
		}
	}
	return at
}

// try matches at one place. It reports false for what ends after limit, where
// the text was cut off.
func (w *work) try(detector int, p *progress, begin, limit int) bool {
	d := &w.s.detectors[detector]
	part := w.text[:min(limit+utf8.UTFMax, len(w.text))] // \b and $ see one rune more
	var at []int
	base := begin

	// \b and ^ see one rune before the match, too.
	switch {
	case !d.back:
		at = d.begins.get().FindSubmatchIndex(part[begin:])
	case begin == 0:
		if at = d.whole.get().FindSubmatchIndex(part); at != nil && at[0] > 0 {
			return true
		}
	default:
		_, n := utf8.DecodeLastRune(part[:begin])
		base -= n
		if at = d.begins.get().FindSubmatchIndex(part[base:]); at != nil {
			at[0] += n
		}
	}

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

// sweep searches the region that is open.
func (w *work) sweep(detector int, p *progress) {
	if !p.open {
		return
	}
	p.open = false
	d := &w.s.detectors[detector]
	end := min(max(p.to, p.beyond)+utf8.UTFMax, len(w.text)) // \b and $ see one rune more
	automaton := w.statesOf(d.match)

	for from := p.from; from < p.to; {
		there := automaton.search(w.text, from, p.to, end)
		p.walked += there.read - from
		if !there.found {
			return
		}

		// The pattern is asked about that stretch alone.
		from = max(from, align(w.text, there.from))
		part := w.text[:min(there.to+utf8.UTFMax, end)]
		re, base := d.within, from
		switch {
		case from == 0:
			re = d.whole
		case d.back:
			_, n := utf8.DecodeLastRune(part[:from])
			base -= n
		}

		at := re.get().FindSubmatchIndex(part[base:])
		if at == nil || base+at[1] > there.to {
			if from = there.read; align(w.text, from) < from {
				from = letterEnd(w.text, from)
			}
			continue
		}
		if base+at[1] > p.to {
			return
		}

		// The rune before was only looked at, and is not in the match.
		if base < from {
			_, n := utf8.DecodeRune(part[base+at[0]:])
			at[0] += n
		}

		p.end = base + at[1]
		from = p.end
		w.take(detector, at, base)
	}
}

// take keeps a match unless it is not a secret. Its places count from base.
func (w *work) take(detector int, at []int, base int) {
	d := &w.s.detectors[detector]
	start, end := submatch(at, d.group)
	if start >= end {
		return
	}

	start, end = start+base, end+base
	if by, ok := w.settled[[2]int{start, end}]; ok && by < detector {
		return // it would change nothing
	}

	// Entropy costs less than the patterns of allowances.
	secret := w.text[start:end]
	if d.entropy > 0 && entropy(secret) < d.entropy {
		return
	}

	for i := range d.allow {
		if d.allow[i].meets(w.text, secret, base+at[0], base+at[1]) {
			return
		}
	}

	w.finds = append(w.finds, Span{start, end, detector})
	if d.group != 0 {
		w.settle(start, end, detector)
	}
}

// settle notes a secret that no other find can drop.
func (w *work) settle(start, end, detector int) {
	if w.settled == nil {
		w.settled = map[[2]int]int{}
	}
	if by, ok := w.settled[[2]int{start, end}]; !ok || detector < by {
		w.settled[[2]int{start, end}] = detector
	}
}

// submatch returns the place of a submatch, which is empty when it took no part.
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

// meets reports whether a secret is allowed.
func (a *allowance) meets(text, secret []byte, start, end int) bool {
	target := secret
	switch a.target {
	case TargetMatch:
		target = text[start:end]
	case TargetLine:
		target = line(text, start, end)
	case TargetWord:
		from := start
		for from > max(0, start-maxWord) && isWord(text[from-1]) {
			from--
		}
		target = text[from:end]
	}

	byPattern, byWord := false, false
	for _, p := range a.patterns {
		byPattern = byPattern || p.get().Match(target) || a.either && p.get().Match(text[start:end])
	}

	for _, word := range a.stopWords {
		byWord = byWord || containsFold(secret, word)
	}

	// Where all must be met, a criterion that is not stated is.
	if a.all {
		return (byPattern || len(a.patterns) == 0) && (byWord || len(a.stopWords) == 0)
	}
	return byPattern || byWord
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}

// line returns the lines that a part of a text lies in, or what is near of them.
func line(text []byte, start, end int) []byte {
	from, to := max(0, start-maxLine), min(len(text), end+maxLine)
	from += bytes.LastIndexByte(text[from:start], '\n') + 1
	if n := bytes.IndexByte(text[end:to], '\n'); n >= 0 {
		to = end + n
	}
	return text[from:to]
}

// containsFold reports whether a text contains a word of lower case.
func containsFold(text []byte, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		j := 0
		for j < len(word) && fold(rune(text[i+j])) == rune(word[j]) {
			j++
		}
		if j == len(word) {
			return true
		}
	}
	return false
}

// entropy returns the Shannon entropy of a text, in bits per byte.
func entropy(text []byte) float64 {
	var count [256]int
	for _, c := range text {
		count[c]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			sum += float64(n) * math.Log2(float64(n))
		}
	}
	return math.Log2(float64(len(text))) - sum/float64(len(text))
}

// finish searches what is still open, and settles which find is which secret.
func (w *work) finish(found []Span) []Span {
	slices.Sort(w.begun) // what an earlier detector has found, a later one need not
	for _, i := range w.begun {
		p := &w.progress[i]
		if w.sweep(i, p); p.search {
			for _, at := range w.s.detectors[i].whole.get().FindAllSubmatchIndex(w.text, -1) {
				w.take(i, at, 0)
			}
		}
		*p = progress{}
	}

	// By detector and then by place: earlier detectors come first, and merge wants order.
	slices.SortFunc(w.finds, func(a, b Span) int {
		if a.Detector != b.Detector {
			return a.Detector - b.Detector
		}
		return a.Start - b.Start
	})

	// The finds of one detector at a time; the two lists take turns.
	kept, next := w.kept[0][:0], w.kept[1][:0]
	for rest := w.finds; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Detector == rest[0].Detector {
			n++
		}
		next = merge(next[:0], kept, rest[:n], w.s.detectors[rest[0].Detector].group != 0)
		kept, next, rest = next, kept, rest[n:]
	}

	// The memory is kept for the next text.
	found = append(found, kept...)
	clear(w.settled)
	w.kept, w.begun, w.finds = [2][]Span{kept, next}, w.begun[:0], w.finds[:0]
	return found
}

// merge appends the finds of earlier detectors and of one more to list. Where
// they overlap, the later ones lengthen the earlier ones or are dropped.
func merge(list, earlier, later []Span, lengthen bool) []Span {
	i := 0
	for _, l := range later {
		for i < len(earlier) && earlier[i].End <= l.Start {
			list = append(list, earlier[i])
			i++
		}

		// It overlaps nothing that was found before.
		if i == len(earlier) || earlier[i].Start >= l.End {
			list = append(list, l)
			continue
		}
		if !lengthen {
			continue
		}

		// What overlaps is one secret, as long as all of them and named by the earliest.
		for i < len(earlier) && earlier[i].Start < l.End {
			e := earlier[i]
			l = Span{min(l.Start, e.Start), max(l.End, e.End), min(l.Detector, e.Detector)}
			i++
		}
		i--
		earlier[i] = l // which the next one may overlap, too
	}

	return append(list, earlier[i:]...)
}
