package survey

import (
	"bytes"
	"iter"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/join"
)

// A joiner finds the predecessor of each receipt in a survey, according to the rules of package
// join. It reads the hashes and the links, both sorted by digest, in parallel, and matches those
// with the same digest. Receipts that cannot be matched in this way are evaluated stream by stream.
type joiner struct {
	*Survey
	next func() ([]byte, error, bool)
	hash hashRecord // the current hash; valid only if more is set
	more bool

	meeting join.Meeting
	digest  canon.Digest // of the meeting
	met     bool         // there is a current meeting

	left leftovers
}

func newJoiner(s *Survey) *joiner {
	return &joiner{Survey: s, left: newLeftovers(s)}
}

// join checks all links, and determines where streams begin and end.
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
		if l := parseLinkRecord(b); j.Marks[l.number] != join.MarkCopy {
			if err := j.link(l); err != nil {
				return err
			}
		}
	}

	// No link names the hashes that remain after the last link.
	j.part()
	for j.more {
		if err := j.meet(j.hash.digest); err != nil {
			return err
		}
		j.part()
	}

	return j.endStreams()
}

// advance moves to the next hash, skipping hashes of copies.
func (j *joiner) advance() error {
	for {
		b, err, more := j.next()
		if j.more = more; err != nil || !more {
			return err
		}
		if j.hash = parseHashRecord(b); j.Marks[j.hash.number] != join.MarkCopy {
			return nil
		}
	}
}

// link checks a single link.
func (j *joiner) link(l linkRecord) error {
	n := l.node()
	switch {
	case l.first && l.damaged:
		j.stray(n)
		return nil
	case l.first:
		j.left.orphan(l)
		return nil
	}

	// Links and hashes are sorted in the same order, so no later link names a smaller hash.
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

// meet starts the meeting of a digest: it adds all receipts whose hash is that digest.
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
			e.Found = e.Found || j.Head(e.Stream).Hash == digest
		}
		if err := j.advance(); err != nil {
			return err
		}
	}
	return nil
}

// part ends the current meeting. A receipt that no link names may be the end of its stream.
func (j *joiner) part() {
	if !j.met {
		return
	}
	j.met = false
	for n := range j.meeting.Tails {
		j.left.tail(n)
	}
}

// judge applies the result of a meeting to a link.
func (j *joiner) judge(l linkRecord, n join.Node, found join.Link) {
	if found.Stray {
		j.stray(n)
	}

	if found.Behind {
		j.left.hurt(join.Damage{Node: n, After: found.After, Previous: l.digest})
	}

	// A source is ordered, so a receipt must come after its predecessor. The place of a damaged
	// receipt shows nothing, because there may be copies of it in other sources.
	m := found.Mark
	if m == join.MarkLinked && found.Related != nil && !found.After && j.beside(n, *found.Related) {
		if m = join.MarkFollows; found.Related.Number > n.Number {
			m = join.MarkLate
		}
	}

	related := address{}
	if m.Failed() && found.Related != nil {
		related = address{found.Related.Place.Source, found.Related.Place.Index}
	}
	j.decide(n, m, related)
	if found.Orphan {
		j.left.orphan(l)
	}
}

// stray removes a damaged receipt without a predecessor from the count of its stream.
func (j *joiner) stray(n join.Node) {
	j.ends[n.Stream].Count--
	j.left.hurt(join.Damage{Node: n, Stray: true})
}

// beside reports whether a receipt and its predecessor are in the same ordered source and in no
// other source.
func (j *joiner) beside(n, before join.Node) bool {
	return before.Place.Source == n.Place.Source && j.ordered(n.Place.Source) && !j.spread[n.Number] && !j.spread[before.Number]
}

func (j *joiner) decide(n join.Node, m join.Mark, other address) {
	if j.Marks[n.Number] != join.MarkLinked { // a receipt with a finding gets no second finding
		return
	}
	j.Marks[n.Number] = m

	if (other != address{}) {
		j.about(n.Number, other)
	}
	if m.Failed() {
		j.ends[n.Stream].Failures++
	}
}

// endStreams checks the remaining receipts of each stream, and determines where the stream ends.
// Streams are processed in the order of their names, so the names alone determine which streams a
// gap excuses.
func (j *joiner) endStreams() error {
	j.left.sort()
	defer func() { _ = j.left.orphans.close() }() // files without names

	next, stop := iter.Pull2(j.left.orphans.sorted())
	defer stop()
	b, err, more := next()
	for at, stream := range j.byName() {
		begin := j.begin(stream)
		forgiven := uint64(0)
		for ; more && err == nil; b, err, more = next() {
			r := parseOrphanRecord(b)
			if r.stream != at {
				break
			}
			if j.orphan(begin, stream, &r) {
				forgiven++
			}
		}
		if err != nil {
			return err
		}

		// A link that is excused here was counted as a failure when it was checked.
		ends, e := begin.End(), &j.ends[stream]
		e.First, e.Previous, e.Head = ends.First, ends.Previous, ends.Head
		e.Failures += uint64(ends.Failures) - forgiven
	}
	return err
}

// begin returns a join.Beginner for a stream.
func (j *joiner) begin(stream int) *join.Beginner {
	t := join.Opening{Given: j.Previous(j.names[stream]), Partial: j.selected(stream) == selectedAll}
	return join.NewBeginner(t, j.left.cutDamage(stream), j.left.cutTails(stream))
}

// orphan checks a receipt whose predecessor is missing, and reports whether that is excused.
func (j *joiner) orphan(b *join.Beginner, stream int, o *orphanRecord) (forgiven bool) {
	r := b.Judge(join.Orphan{Hash: o.hash, First: o.first, Previous: o.previous, Issued: o.issued, Place: o.place(), Mark: j.Marks[o.number]})

	// A gap or a selection may explain why the predecessor is missing.
	if r.Mark == join.MarkMissing {
		if r.Mark = j.forgive(stream); r.Mark != join.MarkMissing {
			forgiven, r.Related = true, join.Place{}
		}
	}

	j.Marks[o.number] = r.Mark
	if r.Related != (join.Place{}) {
		j.about(o.number, address{r.Related.Source, r.Related.Index})
	}
	return forgiven
}

// forgive returns the mark for a receipt whose predecessor is missing. An unreadable document may
// be the predecessor, but each such document excuses only one receipt. If a part was stated to be a
// selection, the predecessor may have been omitted from it.
func (j *joiner) forgive(stream int) join.Mark {
	switch {
	case j.gaps > 0:
		j.gaps--
		return join.MarkGap
	case j.selected(stream) == selectedSome:
		j.unknown[stream] = true
		return join.MarkOpen
	}
	return join.MarkMissing
}

func less(a, b canon.Digest) bool { return bytes.Compare(a[:], b[:]) < 0 }
