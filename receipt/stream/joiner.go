package stream

import (
	"bytes"
	"cmp"
	"iter"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// A joiner finds the predecessor of each receipt of a survey, by the rules of package
// join. It reads hashes and links side by side, both sorted by digest: those of one digest
// meet. What is left over is judged stream by stream.
type joiner struct {
	*survey
	next func() ([]byte, error, bool)
	hash hashRecord // the current one, when there are more
	more bool

	meeting join.Meeting
	digest  canon.Digest // of the meeting
	met     bool         // there is one

	open  []leftover
	heads []leftover // by stream: of the receipts that none names the one that was issued last; zero: none
	hurt  int        // leftovers about damaged receipts: the first maxDamaged are kept
	tails int        // leftovers that none names, the same
}

// A leftover is a receipt that is judged with others of its stream.
type leftover struct {
	role join.Role
	join.Node
	first    bool
	previous canon.Digest
}

func newJoiner(s *survey) *joiner {
	return &joiner{survey: s, heads: make([]leftover, len(s.names))}
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
		if l := parseLinkRecord(b); j.marks[l.number] != join.MarkCopy {
			if err := j.link(l); err != nil {
				return err
			}
		}
	}

	// No link names what comes after the last of them.
	j.part()
	for j.more {
		if err := j.meet(j.hash.digest); err != nil {
			return err
		}
		j.part()
	}

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
		if j.hash = parseHashRecord(b); j.marks[j.hash.number] != join.MarkCopy {
			return nil
		}
	}
}

// link judges one link.
func (j *joiner) link(l linkRecord) error {
	n := l.node()
	switch {
	case l.first && l.damaged:
		j.stray(n)
		return nil
	case l.first:
		j.open = append(j.open, leftover{role: join.RoleOrphan, Node: n, first: true})
		return nil
	}

	// Both are sorted alike: no later link names the hashes before this one.
	if !j.met || j.digest != l.digest {
		j.part()
		for j.more && less(j.hash.digest, l.digest) {
			if err := j.meet(j.hash.digest); err != nil {
				return err
			}
			j.part()
		}
		if err := j.meet(l.digest); err != nil {
			return err
		}
	}

	j.judge(l, n, j.meeting.Name(n))
	return nil
}

// meet begins the meeting of a digest with those that have it.
func (j *joiner) meet(digest canon.Digest) error {
	j.meeting.Reset()
	j.digest, j.met = digest, true
	for j.more && j.hash.digest == digest {
		if n := j.hash.node(); j.hash.content {
			j.meeting.Hurt()
		} else {
			j.meeting.State(n)
			e := &j.ends[n.Stream]
			e.Count++
			e.found = e.found || j.demands.head(e.Stream).Hash == digest
		}
		if err := j.advance(); err != nil {
			return err
		}
	}
	return nil
}

// part ends a meeting: a receipt that no link names is an end of its stream.
func (j *joiner) part() {
	if !j.met {
		return
	}
	j.met = false
	for n := range j.meeting.Tails {
		t := leftover{role: join.RoleTail, Node: n}
		if h := &j.heads[n.Stream]; !n.Damaged && (h.role == 0 || join.Earlier(h.Issued, h.Hash, n.Issued, n.Hash) < 0) {
			*h = t
		}
		if j.tails++; j.tails <= maxDamaged {
			j.open = append(j.open, t)
		}
	}
}

// judge takes what a meeting says of a link.
func (j *joiner) judge(l linkRecord, n join.Node, found join.Link) {
	if found.Stray {
		j.stray(n)
	}
	if found.Behind && j.hurt < maxDamaged {
		j.hurt++
		role := join.RoleBehind
		if found.After {
			role = join.RoleAfter
		}
		j.open = append(j.open, leftover{role: role, Node: n, previous: l.digest})
	}

	// A source is ordered: a predecessor comes before it.
	m := found.Mark
	if m == join.MarkLinked && found.Related != nil && j.beside(n, *found.Related) {
		switch {
		case found.Related.Number > n.Number:
			m = join.MarkLate
		case !found.After:
			m = join.MarkFollows
		}
	}

	related := address{}
	if m.Failed() && found.Related != nil {
		related = address{found.Related.Place.Source, found.Related.Place.Index}
	}
	j.decide(n, m, related)
	if found.Orphan {
		j.open = append(j.open, leftover{role: join.RoleOrphan, Node: n, previous: l.digest})
	}
}

// stray takes a damaged receipt whose predecessor is not there out of its stream.
func (j *joiner) stray(n join.Node) {
	j.ends[n.Stream].Count--
	if j.hurt < maxDamaged {
		j.hurt++
		j.open = append(j.open, leftover{role: join.RoleStray, Node: n})
	}
}

// beside reports whether a receipt and its predecessor are in one source, which is in
// order, and in no other.
func (j *joiner) beside(n, before join.Node) bool {
	return before.Place.Source == n.Place.Source && j.ordered(n.Place.Source) && !j.spread[n.Number] && !j.spread[before.Number]
}

func (j *joiner) decide(n join.Node, m mark, other address) {
	if j.marks[n.Number] != join.MarkLinked { // one finding, not two
		return
	}
	j.marks[n.Number] = m
	if (other != address{}) {
		j.about(n.Number, other)
	}
	if m.Failed() {
		j.ends[n.Stream].Failures.Count++
	}
}

// endStreams judges what was left over of each stream, and finds its ends. Streams are
// in the order of their names, so that who is forgiven a gap depends on nothing else.
func (j *joiner) endStreams() {
	order := make([]int, len(j.names)) // of the streams, by their numbers
	byName := make([]int, len(j.names))
	for i := range byName {
		byName[i] = i
	}
	slices.SortFunc(byName, func(a, b int) int { return j.names[a].Compare(j.names[b]) })
	for at, stream := range byName {
		order[stream] = at
	}
	slices.SortFunc(j.open, func(a, b leftover) int { return cmp.Compare(order[a.Stream], order[b.Stream]) })

	rest := j.open
	for _, stream := range byName {
		n := 0
		for n < len(rest) && rest[n].Stream == stream {
			n++
		}
		j.endStream(stream, rest[:n])
		rest = rest[n:]
	}
}

// endStream judges one stream.
func (j *joiner) endStream(stream int, left []leftover) {
	e, parts, at := &j.ends[stream], make([]join.Part, 0, len(left)+1), map[int]address{}
	for i := range left {
		parts = append(parts, j.partOf(&left[i]))
		at[left[i].Number] = address{left[i].Place.Source, left[i].Place.Index}
	}
	if h := &j.heads[stream]; h.role != 0 {
		parts = append(parts, j.partOf(h))
	}

	terms := join.Terms{
		Partial:  func(chain.Stream) bool { return j.selected(stream) == selectedAll },
		Previous: j.demands.previous,
	}
	done, s := join.Begin(join.Strand{Stream: e.Stream, Count: int64(e.Count), Failures: int64(e.Failures.Count), Intact: j.intact[stream], Found: e.found}, parts, terms)
	for _, r := range j.forgive(done, stream, &s) {
		j.marks[r.Place.Index] = r.Mark
		if r.Related != (join.Place{}) {
			j.about(r.Place.Index, at[r.Related.Index])
		}
	}
	e.Segment = s.Segment()
}

// partOf is a leftover as package join judges it, placed by its number.
func (j *joiner) partOf(l *leftover) join.Part {
	r := join.Record{Stream: j.names[l.Stream], Stated: l.Hash, Computed: l.Hash, First: l.first, Previous: l.previous, Issued: l.Issued,
		Place: join.Place{Source: 1, Index: l.Number}, Mark: j.marks[l.Number]}
	if l.Damaged {
		r.Computed[0] ^= 1 // any other
	}
	return join.Part{Role: l.role, Record: r}
}

// forgive leaves open what something unreadable may be, or another part may hold of which
// it was said that it is a selection.
func (j *joiner) forgive(done []join.Record, stream int, s *join.Strand) []join.Record {
	missing := func(r join.Record) bool { return r.Mark == join.MarkMissing }
	if !slices.ContainsFunc(done, missing) || j.gaps == 0 && j.selected(stream) != selectedSome {
		return done
	}

	var lost, others []join.Record
	for _, r := range done {
		if missing(r) {
			lost = append(lost, r)
		} else {
			others = append(others, r)
		}
	}
	lost, forgiven := join.Forgive(lost, int64(j.gaps))
	for i := range forgiven {
		s.Add(&forgiven[i])
	}
	j.gaps -= len(forgiven)
	if j.selected(stream) == selectedSome {
		for i := range lost {
			if missing(lost[i]) {
				lost[i].Mark, j.unknown[stream] = join.MarkOpen, true
				s.Failures--
			}
		}
	}
	return append(others, lost...)
}

func less(a, b canon.Digest) bool { return bytes.Compare(a[:], b[:]) < 0 }
