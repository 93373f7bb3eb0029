package stream

import (
	"bytes"
	"cmp"
	"iter"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// A joiner finds the predecessor of each receipt of a survey. It reads hashes and
// links side by side, both sorted by stream and digest: a link whose digest is no
// receipt's hash has no predecessor in the input, and a hash that no link names is
// an end.
type joiner struct {
	*survey
	next  func() ([]byte, error, bool)
	hash  hashRecord // the current one, when there are more
	more  bool
	named bool // a link has named it

	last    linkRecord // the link before, when it was judged
	linked  bool       // there is one
	begins  []address  // by stream: its first receipt; the zero address is none
	heads   []hashRecord
	tails   []hashRecord // receipts that no other one names, the first maxDamaged
	orphans []orphan     // receipts without a predecessor in the input
	apart   map[int]bool // damaged receipts without one: they are in no stream, the first maxDamaged
	behind  []orphan     // intact receipts after damaged ones, the first maxDamaged
}

// An orphan is a receipt that follows none of the input that fits its own hash.
type orphan struct {
	linkRecord
	follows int // the number of its predecessor, when that is damaged; -1 for none
}

func newJoiner(s *survey) *joiner {
	return &joiner{survey: s, begins: make([]address, len(s.names)), heads: make([]hashRecord, len(s.names)), apart: map[int]bool{}}
}

// join judges all links, and finds where streams begin and end.
func (j *joiner) join() error {
	next, stop := iter.Pull2(j.hashes.sorted())
	defer stop()
	j.next = next
	if err := j.advance(); err != nil {
		return err
	}

	for b, err := range j.links.sorted() {
		if err != nil {
			return err
		}
		if err := j.link(parseLinkRecord(b)); err != nil {
			return err
		}
	}

	// No link names what comes after the last of them.
	for j.more {
		if err := j.pass(); err != nil {
			return err
		}
	}

	// A stream begins once, so receipts without a predecessor are judged together.
	if err := j.strangers(); err != nil {
		return err
	}
	j.beginStreams()
	j.endStreams()
	return nil
}

// advance goes to the next hash that is not a copy's.
func (j *joiner) advance() error {
	for {
		b, err, more := j.next()
		if j.more = more; err != nil || !more {
			return err
		}

		// A damaged receipt may state another's hash.
		r := parseHashRecord(b)
		j.named = j.named && j.hash.position == r.position
		if j.marks[r.number] != markCopy {
			j.hash = r
			j.count()
			return nil
		}
	}
}

// count counts the current receipt in its stream, and sees whether it is the
// head that is wanted.
func (j *joiner) count() {
	e := &j.ends[j.hash.stream]
	e.Count++
	e.found = e.found || j.demands.head(e.Stream).Hash == j.hash.digest
}

// pass leaves the current hash behind. When no link named it, its receipt is an
// end of its stream.
func (j *joiner) pass() error {
	if !j.named {
		if j.marks[j.hash.number] != markDamaged {
			j.head(j.hash)
		}
		if len(j.tails) < maxDamaged {
			j.tails = append(j.tails, j.hash)
		}
	}
	return j.advance()
}

// head makes a tail the head of its stream, unless there is one that was issued
// later: of several the order of reading says nothing.
func (j *joiner) head(t hashRecord) {
	h := &j.heads[t.stream]
	if h.digest.IsZero() || cmp.Or(cmp.Compare(t.issued, h.issued), bytes.Compare(t.digest[:], h.digest[:])) > 0 {
		*h = t
	}
}

// link judges one link.
func (j *joiner) link(l linkRecord) error {
	switch {
	case j.marks[l.number] == markCopy:
		return nil
	case l.first && l.damaged:
		j.stray(l)
		return nil
	case l.first:
		j.orphans = append(j.orphans, orphan{l, -1})
		return nil
	}

	// Both are sorted alike: no later link names the hashes before this one.
	for j.more && j.hash.compare(&l.position) < 0 {
		if err := j.pass(); err != nil {
			return err
		}
	}

	found := j.more && j.hash.position == l.position
	j.named = j.named || found
	switch {
	case l.damaged && !found:
		j.stray(l)
	case !l.damaged:
		j.linkIntact(l, found)
	}
	return nil
}

// linkIntact judges the link of a receipt that fits its own hash; found says that
// the current hash is the one that it names.
func (j *joiner) linkIntact(l linkRecord, found bool) {
	// What follows a receipt that does not fit its own hash is not blamed for it.
	o := orphan{l, -1}
	if found && j.marks[j.hash.number] == markDamaged {
		o.follows = j.hash.number
	}
	if (o.follows >= 0 || !found && j.damaged[l.digest]) && len(j.behind) < maxDamaged {
		j.behind = append(j.behind, o)
	}

	// Each link has one finding: the first that fits.
	switch {
	case j.linked && j.last.position == l.position:
		j.fail(l, markFork, j.last.address)
		return
	case !found && j.damaged[l.digest]:
	case !found:
		j.orphans = append(j.orphans, o)
	case j.late(l):
		j.fail(l, markLate, j.hash.address)
	case o.follows < 0 && j.beside(l) && j.marks[l.number] == markLinked:
		j.marks[l.number] = markFollows
	}
	j.last, j.linked = l, true
}

// stray takes a damaged receipt whose predecessor is not there out of its stream.
func (j *joiner) stray(l linkRecord) {
	j.ends[l.stream].Count--
	if len(j.apart) < maxDamaged {
		j.apart[l.number] = true
	}
}

// late reports whether the predecessor, which is the current hash's, comes
// later in the same source: a source is ordered.
func (j *joiner) late(l linkRecord) bool { return j.beside(l) && j.hash.number > l.number }

// beside reports whether a receipt and its predecessor, which is the current
// hash's, are in one source and in no other.
func (j *joiner) beside(l linkRecord) bool {
	return j.hash.source == l.source && !j.spread[l.number] && !j.spread[j.hash.number]
}

func (j *joiner) fail(l linkRecord, m mark, other address) {
	if j.marks[l.number] == markLinked { // one finding, not two
		j.marks[l.number] = m
		j.about(l.number, other)
		j.ends[l.stream].Failures.Count++
	}
}

// strangers finds the receipts that name one of another stream: among all hashes,
// since these are sorted by stream.
func (j *joiner) strangers() error {
	naming := map[canon.Digest][]orphan{}
	for _, o := range j.orphans {
		if !o.first {
			naming[o.digest] = append(naming[o.digest], o)
		}
	}
	if len(j.names) < 2 || len(naming) == 0 {
		return nil
	}

	// What a damaged receipt states may be the hash of another; a copy has its original.
	for b, err := range j.hashes.sorted() {
		if err != nil {
			return err
		}
		r := parseHashRecord(b)
		if m := j.marks[r.number]; m == markDamaged || m == markCopy {
			continue
		}
		for _, o := range naming[r.digest] {
			j.decide(o, markElsewhere, r.address)
		}
	}
	return nil
}

// beginStreams decides which of the receipts without a predecessor begins its
// stream: the one that follows what was given, or states to be the first, or was
// read first. Another one shows that receipts are missing before it.
func (j *joiner) beginStreams() {
	slices.SortFunc(j.orphans, func(a, b orphan) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(j.rank(a), j.rank(b)), cmp.Compare(a.number, b.number))
	})

	// A stream begins once: the others are judged by the one that begins it.
	for _, o := range j.orphans {
		begun := j.begins[o.stream] != address{}
		switch {
		case !begun:
			j.begin(o)
		case o.first:
			j.decide(o, markSecond, j.begins[o.stream])
		case j.marks[o.number] != markLinked:
		case j.selected(o.stream) == selectedAll:
			j.decide(o, markOpen, address{})
		case j.gaps > 0:
			j.gaps--
			j.decide(o, markGap, address{})
		case j.selected(o.stream) == selectedSome:
			j.decide(o, markOpen, address{})
			j.unknown[o.stream] = true
		default:
			j.decide(o, markMissing, j.tailBefore(o))
		}
	}
}

// rank orders the orphans of a stream by how likely they begin it.
func (j *joiner) rank(o orphan) int {
	after := j.demands.previous(j.names[o.stream])
	switch {
	case !after.IsZero() && o.digest == after:
		return 0
	case o.first:
		return 1
	}
	return 2
}

func (j *joiner) begin(o orphan) {
	e := &j.ends[o.stream]
	e.First, e.Previous = o.first, o.digest
	j.begins[o.stream] = o.address

	after := j.demands.previous(e.Stream)
	switch {
	case !after.IsZero() && (o.first || o.digest != after):
		j.decide(o, markForeign, address{})
	case !o.first && after.IsZero():
		j.decide(o, markOpen, address{})
	}
}

// tailBefore finds the end of a run that was issued last before an orphan: what the
// missing receipts probably follow.
func (j *joiner) tailBefore(o orphan) (at address) {
	var best *hashRecord
	for i := range j.tails {
		t := &j.tails[i]
		if t.stream == o.stream && t.issued < o.issued && (best == nil || t.issued > best.issued) {
			best, at = t, t.address
		}
	}
	return at
}

func (j *joiner) decide(o orphan, m mark, other address) {
	if j.marks[o.number] != markLinked { // one finding, not two
		return
	}
	j.marks[o.number] = m
	if (other != address{}) {
		j.about(o.number, other)
	}
	switch m {
	case markMissing, markSecond, markForeign, markElsewhere:
		j.ends[o.stream].Failures.Count++
	}
}

// endStreams finds the ends of the streams. What begins or ends with a damaged
// receipt begins after it, and ends in the hash that it states.
func (j *joiner) endStreams() {
	slices.SortFunc(j.behind, func(a, b orphan) int {
		return cmp.Or(cmp.Compare(b.follows, a.follows), cmp.Compare(a.number, b.number))
	})
	for _, o := range j.behind {
		if (j.begins[o.stream] == address{}) && (o.follows < 0 || j.apart[o.follows]) {
			j.begins[o.stream], j.ends[o.stream].Previous = o.address, o.digest
		}
	}

	// A damaged receipt that has its place may be the last one.
	for _, t := range j.tails {
		if j.marks[t.number] == markDamaged && !j.apart[t.number] {
			j.head(t)
		}
	}

	for i := range j.ends {
		e := &j.ends[i]
		if e.Head = j.heads[i].digest; e.Head.IsZero() { // every hash is named: a cycle
			e.Failures.Count++
		}
	}
}
