package stream

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// join finds copies and duplicate ids among the ids, and then reads hashes and
// links side by side, both sorted by stream and digest: a link whose digest is
// no receipt's hash has no predecessor in the input, and a hash that no link
// names is an end.
func (s *survey) join() error {
	if err := s.joinIDs(); err != nil {
		return err
	}

	s.ends = make([]streamEnd, len(s.names))
	for i, name := range s.names {
		s.ends[i].Stream = name
	}
	s.trails = make([]trail, len(s.names))
	j := &joiner{survey: s, begins: make([]address, len(s.names)), heads: make([]tail, len(s.names)), apart: map[int]bool{}}

	// Both are sorted alike, so that one pass over each is enough.
	next, stop := iter.Pull2(s.hashes.sorted())
	defer stop()
	j.next = next
	if err := j.advance(); err != nil {
		return err
	}

	for e, err := range s.links.sorted() {
		if err != nil {
			return err
		}
		if err := j.link(e); err != nil {
			return err
		}
	}

	// No link names what comes after the last of them.
	for j.hash != nil {
		if err := j.pass(); err != nil {
			return err
		}
	}

	// A stream has one root, so receipts without a predecessor are judged together.
	if err := j.strangers(); err != nil {
		return err
	}
	j.beginStreams()
	return nil
}

// joinIDs marks the receipts whose id was there before.
func (s *survey) joinIDs() error {
	var first [idWidth]byte
	some := false
	for e, err := range s.ids.sorted() {
		if err != nil {
			return err
		}
		if !some || !bytes.Equal(e[:16], first[:16]) {
			copy(first[:], e)
			some = true
			continue
		}

		// One id twice: a copy when the content is the same, else a duplicate.
		number := int(binary.BigEndian.Uint64(e[16:]))
		s.marks[number] = markDuplicate
		if bytes.Equal(e[24:56], first[24:56]) {
			s.marks[number] = markCopy
			if addressAt(e[56:]).source != addressAt(first[56:]).source {
				s.spread[int(binary.BigEndian.Uint64(first[16:]))] = true
			}
		}

		s.about(number, addressAt(first[56:]))
		s.originals[number] = int(binary.BigEndian.Uint64(first[16:]))
	}

	// A copy is not counted when its original has the same verdict.
	s.verdicts = make(map[int]receipt.Verdict, len(s.originals))
	for _, original := range s.originals {
		s.verdicts[original] = receipt.Undecided
	}

	return nil
}

// about remembers which receipt a mark is about, for the first that will be
// printed.
func (s *survey) about(number int, a address) {
	if len(s.others) < maxDamaged {
		s.others[number] = a
	}
}

func addressAt(e []byte) address {
	return address{int(binary.BigEndian.Uint32(e)), int(binary.BigEndian.Uint32(e[4:]))}
}

// A joiner walks along the sorted hashes while links come by.
type joiner struct {
	*survey
	next  func() ([]byte, error, bool)
	hash  []byte // the current entry of hashes; nil at the end
	named bool   // a link has named it

	last   []byte       // the link before, when it was judged
	begins []address    // by stream: its first receipt; the zero address is none
	heads  []tail       // by stream: its last receipt, so far
	tails  []tail       // ends of runs, the first maxDamaged
	absent []orphan     // receipts without a predecessor in the input
	apart  map[int]bool // damaged receipts without one: they are in no stream, the first maxDamaged
	behind []orphan     // intact receipts after damaged ones, the first maxDamaged
}

// A tail is a receipt that no other one names.
type tail struct {
	number, stream int
	address
	issued int64
	hash   canon.Digest
}

// A root is a receipt that follows none of the input.
type orphan struct {
	number, stream int
	address
	first    bool // it states to be the first
	previous canon.Digest
	damaged  int   // the number of its predecessor, when that is damaged; -1 for none
	issued   int64 // milliseconds since 1970
}

// advance goes to the next hash that is not a copy's.
func (j *joiner) advance() error {
	for {
		e, err, more := j.next()
		if err != nil {
			return err
		}
		if !more {
			j.hash = nil
			return nil
		}

		j.named = j.named && bytes.Equal(j.hash[:36], e[:36]) // a damaged receipt may state another's hash
		number := int(binary.BigEndian.Uint64(e[36:]))
		if j.marks[number] != markCopy {
			j.hash = append(j.hash[:0], e...)
			j.count(number)
			return nil
		}
	}
}

// count counts the current receipt in its stream, and sees whether it is the
// head that is wanted.
func (j *joiner) count(number int) {
	e := &j.ends[binary.BigEndian.Uint32(j.hash)]
	e.Count++
	wanted := j.options.wanted(e.Stream).Hash
	e.found = e.found || bytes.Equal(wanted[:], j.hash[4:36])
}

// pass leaves the current hash behind. When no link named it, its receipt is an
// end of its stream.
func (j *joiner) pass() error {
	if !j.named {
		t := tail{number: int(binary.BigEndian.Uint64(j.hash[36:])), stream: int(binary.BigEndian.Uint32(j.hash)),
			address: addressAt(j.hash[44:]), issued: int64(binary.BigEndian.Uint64(j.hash[52:])), hash: canon.Digest(j.hash[4:36])}
		if j.marks[t.number] != markDamaged {
			j.head(t)
		}
		if len(j.tails) < maxDamaged {
			j.tails = append(j.tails, t)
		}
	}
	return j.advance()
}

// head makes a tail the head of its stream, unless there is one that was issued
// later: of several the order of reading says nothing.
func (j *joiner) head(t tail) {
	h := &j.heads[t.stream]
	if h.hash.IsZero() || cmp.Or(cmp.Compare(t.issued, h.issued), bytes.Compare(t.hash[:], h.hash[:])) > 0 {
		*h = t
	}
}

// link judges one link.
func (j *joiner) link(e []byte) error {
	number := int(binary.BigEndian.Uint64(e[37:]))
	if j.marks[number] == markCopy {
		return nil
	}

	stream, at := int(binary.BigEndian.Uint32(e)), addressAt(e[45:])
	damaged, first, issued := e[53] == 1, e[4] == 0, int64(binary.BigEndian.Uint64(e[54:]))
	var key [36]byte
	copy(key[:4], e[:4])
	copy(key[4:], e[5:37])

	if first {
		if damaged {
			j.stray(stream, number)
		} else {
			j.absent = append(j.absent, orphan{number, stream, at, true, canon.Digest{}, -1, issued})
		}
		return nil
	}

	// Both are sorted alike: no later link names the hashes before this one.
	for j.hash != nil && bytes.Compare(j.hash[:36], key[:]) < 0 {
		if err := j.pass(); err != nil {
			return err
		}
	}

	found := j.hash != nil && bytes.Equal(j.hash[:36], key[:])
	j.named = j.named || found
	if damaged {
		if !found {
			j.stray(stream, number)
		}
		return nil
	}

	// What follows a receipt that does not fit its own hash is not blamed for it.
	previous := canon.Digest(key[4:])
	r := orphan{number, stream, at, false, previous, -1, issued}
	if found && j.marks[j.holder()] == markDamaged {
		r.damaged = j.holder()
	}
	if (r.damaged >= 0 || !found && j.damaged[previous]) && len(j.behind) < maxDamaged {
		j.behind = append(j.behind, r)
	}

	// Each link has one finding: the first that fits.
	switch {
	case j.last != nil && bytes.Equal(j.last[:37], e[:37]):
		j.fail(stream, number, markFork, addressAt(j.last[45:]))
		return nil
	case !found && j.damaged[previous]:
	case !found:
		j.absent = append(j.absent, r)
	case j.late(number, at):
		j.fail(stream, number, markLate, addressAt(j.hash[44:]))
	case r.damaged < 0 && j.beside(number, at) && j.marks[number] == markLinked:
		j.marks[number] = markFollows
	}

	j.last = append(j.last[:0], e...)
	return nil
}

// stray takes a damaged receipt whose predecessor is not there out of its stream.
func (j *joiner) stray(stream, number int) {
	j.ends[stream].Count--
	if len(j.apart) < maxDamaged {
		j.apart[number] = true
	}
}

// holder is the number of the current hash's receipt.
func (j *joiner) holder() int { return int(binary.BigEndian.Uint64(j.hash[36:])) }

// late reports whether the predecessor, which is the current hash's, comes
// later in the same source: a source is ordered.
func (j *joiner) late(number int, at address) bool {
	return j.beside(number, at) && j.holder() > number
}

// beside reports whether a receipt and its predecessor, which is the current
// hash's, are in one source and in no other.
func (j *joiner) beside(number int, at address) bool {
	return addressAt(j.hash[44:]).source == at.source && !j.spread[number] && !j.spread[j.holder()]
}

func (j *joiner) fail(stream, number int, m mark, other address) {
	if j.marks[number] == markLinked { // one finding, not two
		j.marks[number] = m
		j.about(number, other)
		j.ends[stream].Failures.Count++
	}
}

// strangers finds the receipts that name one of another stream: among all hashes,
// since these are sorted by stream.
func (j *joiner) strangers() error {
	named := map[canon.Digest][]orphan{}
	for _, r := range j.absent {
		if !r.first {
			named[r.previous] = append(named[r.previous], r)
		}
	}

	if len(j.names) < 2 || len(named) == 0 {
		return nil
	}

	// What a damaged receipt states may be the hash of another; a copy has its original.
	for e, err := range j.hashes.sorted() {
		if err != nil {
			return err
		}
		if m := j.marks[binary.BigEndian.Uint64(e[36:])]; m == markDamaged || m == markCopy {
			continue
		}
		for _, r := range named[canon.Digest(e[4:36])] {
			j.decide(r, markElsewhere, addressAt(e[44:]))
		}
	}

	return nil
}

// roots decides which of the receipts without a predecessor begins its stream:
// the one that follows what was given, or states to be the first, or was read
// first. Another one shows that receipts are missing before it.
func (j *joiner) beginStreams() {
	slices.SortFunc(j.absent, func(a, b orphan) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(j.rank(a), j.rank(b)), cmp.Compare(a.number, b.number))
	})

	// A stream begins once: other roots are judged by the one that begins it.
	for _, r := range j.absent {
		begun := j.begins[r.stream] != address{}
		switch {
		case !begun:
			j.begin(r)
		case r.first:
			j.decide(r, markSecond, j.begins[r.stream])
		case j.marks[r.number] != markLinked:
		case j.selected(r.stream) == selectedAll:
			j.decide(r, markOpen, address{})
		case j.gaps > 0:
			j.gaps--
			j.decide(r, markGap, address{})
		case j.selected(r.stream) == selectedSome:
			j.decide(r, markOpen, address{})
			j.unknown[r.stream] = true
		default:
			j.decide(r, markMissing, j.tailBefore(r))
		}
	}
	j.bound()
}

// bound finds the ends of the streams. What begins or ends with a damaged
// receipt begins after it, and ends in the hash that it states.
func (j *joiner) bound() {
	slices.SortFunc(j.behind, func(a, b orphan) int {
		return cmp.Or(cmp.Compare(b.damaged, a.damaged), cmp.Compare(a.number, b.number))
	})
	for _, r := range j.behind {
		if (j.begins[r.stream] == address{}) && (r.damaged < 0 || j.apart[r.damaged]) {
			j.begins[r.stream], j.ends[r.stream].Previous = r.address, r.previous
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
		if e.Head = j.heads[i].hash; e.Head.IsZero() { // every hash is named: a cycle
			e.Failures.Count++
		}
	}
}

// rank orders the roots of a stream by how likely they begin it.
func (j *joiner) rank(r orphan) int {
	after := j.options.after(j.names[r.stream])
	switch {
	case !after.IsZero() && r.previous == after:
		return 0
	case r.first:
		return 1
	}
	return 2
}

// tailBefore finds the end of a run that was issued last before a root: what the
// missing receipts probably follow.
func (j *joiner) tailBefore(r orphan) (at address) {
	var best *tail
	for i := range j.tails {
		t := &j.tails[i]
		if t.stream == r.stream && t.issued < r.issued && (best == nil || t.issued > best.issued) {
			best, at = t, t.address
		}
	}
	return at
}

func (j *joiner) begin(r orphan) {
	e := &j.ends[r.stream]
	e.First, e.Previous = r.first, r.previous
	j.begins[r.stream] = r.address

	after := j.options.after(e.Stream)
	switch {
	case !after.IsZero() && (r.first || r.previous != after):
		j.decide(r, markForeign, address{})
	case !r.first && after.IsZero():
		j.decide(r, markOpen, address{})
	}
}

func (j *joiner) decide(r orphan, m mark, other address) {
	if j.marks[r.number] != markLinked { // one finding, not two
		return
	}
	j.marks[r.number] = m
	if (other != address{}) {
		j.about(r.number, other)
	}
	switch m {
	case markMissing, markSecond, markForeign, markElsewhere:
		j.ends[r.stream].Failures.Count++
	}
}
