package stream

import (
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
)

const previousPointer = "/chain/previous_receipt_hash"

// An order judges the links of one ordered input: each receipt has to name the
// one before it in its stream. Two kinds of neighbours are not a second finding: a
// receipt that does not fit its own hash stands where its successor says it
// stands, and after something unreadable one link cannot be checked.
type order struct {
	options *Options
	demands demands
	streams map[string]*strand
	named   int // bytes of the names of streams
	index   *index
	damaged map[canon.Digest]int // hashes, stated and computed, of receipts that do not fit theirs
	gaps    []int                // lines that state no place, and that no link has been forgiven for
	names   []chain.Stream       // by the number of the stream
	behind  []Finding            // links that later receipts showed to be false, the first MaxNotices
}

// Judged is what is known of the last receipt of a stream.
type judged struct {
	hash    canon.Digest
	verdict receipt.Verdict // if its link holds
}

// maxDamaged bounds what an input of nothing but damage can make us remember.
const maxDamaged = 1 << 16

// A strand is one stream of an ordered input.
type strand struct {
	number  int // of the stream, in the order of their first receipts
	segment chain.Segment
	line    int          // of the last receipt
	issued  time.Time    // of the last receipt
	undated bool         // that is no time that its source told
	last    judged       // that receipt, when its content fits its hash
	sound   canon.Digest // the head before receipts that do not fit their hashes
	shaky   bool         // such receipts are the last ones
	first   bool         // a receipt stated that nothing precedes it
	wanted  chain.Head
	found   bool // the wanted head was seen
}

func newOrder(o *Options) *order {
	return &order{options: o, demands: o.demands(), streams: map[string]*strand{}, index: newIndex(o.mostIndexed()), damaged: map[canon.Digest]int{}}
}

// place judges the link of an item.
func (o *order) place(it *item) error {
	f := &it.facts
	if !f.placed {
		if it.other == "" && len(o.gaps) < maxDamaged {
			o.gaps = append(o.gaps, it.Index)
		}
		return nil
	}

	// An id has one content: another one refutes, and the same one is a copy.
	if f.holds && o.repeats(it) {
		return nil
	}

	// A damaged receipt opens no stream: its names may be what was damaged.
	s := o.streams[string(f.key)]
	if s == nil {
		if !f.holds {
			o.damage(it)
			return nil
		}
		var err error
		if s, err = o.begin(it); err != nil {
			return err
		}
	} else {
		if f.holds && o.again(s, it) {
			return nil
		}
		o.follow(s, it)
	}

	o.disprove(s, it)
	s.line, s.issued, s.undated = it.Index, f.issued, f.undated
	s.found = s.found || f.link.Hash == s.wanted.Hash
	if f.holds {
		o.index.add(it, s.number)
		s.last = judged{f.computed, it.alone.own}
	}

	return nil
}

// repeats reports whether the item's id was there before: as the same receipt,
// which counts once, or as another one, which refutes.
func (o *order) repeats(it *item) bool {
	before, ok := o.index.ids[it.facts.id]
	switch {
	case !ok:
		return false
	case before.hash != short(it.facts.computed):
		it.v.Link(&it.rep, receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeDuplicateID, Pointer: "/receipt_id",
			Stated: it.facts.computed.String(), Cause: vocab.CauseIDTaken, Related: atLine(int(before.line))})
		return false
	}
	o.repeat(it, int(before.line), before.verdict)
	return true
}

// again reports whether an item after those of the index repeats the receipt before it,
// or may repeat another one: nobody can tell.
func (o *order) again(s *strand, it *item) bool {
	f := &it.facts
	switch {
	case !o.index.full() || s.segment.Joins(chain.SegmentOf(s.segment.Stream, f.link)):
		return false
	case f.computed == s.last.hash:
		o.repeat(it, s.line, s.last.verdict)
		return true
	case o.index.maybeCopy(f.computed):
		it.v.Link(&it.rep, receipt.Check{Status: receipt.StatusNotChecked, Code: vocab.CodeCopyNotChecked, Related: atLine(s.line),
			Reason: fmt.Sprintf("it does not follow line %d, and may be a copy of a receipt after the first %d", s.line, o.options.mostIndexed())})
		return true
	}
	return false
}

// repeat makes an item a copy of the receipt at a line.
func (o *order) repeat(it *item, line int, verdict receipt.Verdict) {
	it.v.Link(&it.rep, receipt.Check{Status: receipt.StatusNotApplicable})
	it.rep.Warnings = append(it.rep.Warnings, receipt.Note{Code: vocab.CodeIdenticalCopy, Detail: fmt.Sprintf("line %d is the same receipt", line)})
	it.again, it.copy = true, verdict == it.rep.Verdict
}

// disprove finds the link of another stream's receipt, left open before, that
// names this one.
func (o *order) disprove(s *strand, it *item) {
	n := o.index.node(it.facts.computed)
	if !it.facts.holds || !n.open || int(n.naming) == s.number || len(o.behind) >= MaxNotices {
		return
	}
	stream := o.names[n.naming]
	o.behind = append(o.behind, Finding{Code: receipt.CodeChainBreak, Stream: &stream, Source: fmt.Sprintf("%s:%d", it.rep.Source, n.namer),
		Stated: it.facts.computed.String(), Cause: vocab.CausePredecessorElsewhere, Detail: fmt.Sprintf("it names line %d, a receipt of another stream", it.Index)})
}

// begin opens a stream with its first receipt.
func (o *order) begin(it *item) (*strand, error) {
	f := &it.facts
	stream := f.key.stream()
	if !o.options.Only.isZero() && len(o.streams) > 0 {
		return nil, ErrStreams
	}
	if o.named += len(f.key); !o.options.Bounds.allows(len(o.streams)+1, o.named) {
		return nil, ErrManyStreams
	}

	s := &strand{number: len(o.names), segment: chain.SegmentOf(stream, f.link), first: f.link.First}
	o.streams[string(f.key)] = s
	o.names = append(o.names, stream)
	s.wanted = o.demands.head(stream)
	after := o.demands.previous(stream)
	if it.Single && after.IsZero() {
		return s, nil // one receipt shows nothing of what precedes or follows it
	}

	// What precedes the first receipt is known only when it was given.
	check := o.first(f.link, after)
	it.foreign = check.Status == receipt.StatusFailed && !after.IsZero()
	it.v.Link(&it.rep, check)
	return s, nil
}

// first judges the first receipt of a stream; after is what it must name, or
// zero when that is not known.
func (o *order) first(l chain.Link, after canon.Digest) receipt.Check {
	_, damaged := o.damaged[l.Previous]
	n := o.index.node(l.Previous)
	switch {
	case !l.First && n.line > 0:
		return namesElsewhere(l, int(n.line))
	case !after.IsZero() && (l.First || l.Previous != after):
		return receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer,
			Stated: stated(l), Computed: after.String(), Cause: vocab.CausePredecessorNotGiven}
	case l.First, !after.IsZero(), damaged:
		return receipt.Check{Status: receipt.StatusPassed}
	}
	return unchecked(vocab.CausePredecessorAbsent, receipt.Place{})
}

// follow judges a receipt by the one before it in its stream.
func (o *order) follow(s *strand, it *item) {
	f := &it.facts
	one := chain.SegmentOf(s.segment.Stream, f.link)
	check := receipt.Check{Status: receipt.StatusPassed}
	if !s.segment.Joins(one) {
		if !f.holds { // one finding, not two
			o.damage(it)
			return
		}
		check = o.apart(s, f.link)
		if check.Status != receipt.StatusFailed { // nothing shows that it does not follow
			one.First, one.Previous = false, s.segment.Head
		}
	}

	// A predecessor comes before the receipt that names it.
	if n := o.index.node(f.computed); f.holds && check.Status != receipt.StatusFailed && n.open && int(n.naming) == s.number {
		check = o.broken(s, f.link)
		check.Cause, check.Related = vocab.CauseNamedEarlier, atLine(int(n.namer))
		s.segment.Failures.Count++
	}

	// Clocks go wrong: this warns, and refutes nothing. A time that nobody told is before none.
	if !f.undated && !s.undated && f.issued.Before(s.issued) {
		it.rep.Warnings = append(it.rep.Warnings, receipt.Note{Code: vocab.CodeTimeOrder, Pointer: "/issued_at", Detail: fmt.Sprintf("it was issued before line %d, its predecessor", s.line)})
	}

	// A damaged receipt keeps its place. A true copy of it would follow the head
	// before it.
	if f.holds {
		it.v.Link(&it.rep, check)
		s.shaky = false
	} else {
		o.damage(it)
		if !s.shaky {
			s.shaky, s.sound = true, s.segment.Head
		}
	}
	s.segment, s.first = s.segment.Merge(one), s.first || f.link.First
}

// apart judges a receipt that does not name the one before it.
func (o *order) apart(s *strand, l chain.Link) receipt.Check {
	if l.First {
		return o.broken(s, l)
	}
	if n := o.index.node(l.Previous); n.line > 0 && int(n.stream) != s.number {
		return namesElsewhere(l, int(n.line))
	}

	// It follows a receipt that does not fit its own hash, or the receipt before
	// such a one, whose true copy it then is.
	if _, damaged := o.damaged[l.Previous]; damaged || s.shaky && l.Previous == s.sound {
		return receipt.Check{Status: receipt.StatusPassed}
	}

	// What could not be read may be the receipt that is named.
	if at, ok := o.forgive(s); ok {
		return unchecked(vocab.CauseUnreadable, atLine(at))
	}
	if o.options.Partial && o.absent(l) {
		return unchecked(vocab.CauseSelection, receipt.Place{})
	}

	return o.broken(s, l)
}

// damage remembers a receipt that does not fit its own hash, by both hashes.
func (o *order) damage(it *item) {
	if len(o.damaged) < maxDamaged {
		o.damaged[it.facts.link.Hash] = it.Index
		o.damaged[it.facts.computed] = it.Index
	}
	it.v.Link(&it.rep, unchecked(vocab.CauseOwnHash, receipt.Place{}))
}

// forgive finds something unreadable between the last receipt of a stream and
// now. Each such line is forgiven once.
func (o *order) forgive(s *strand) (line int, ok bool) {
	for i, line := range o.gaps {
		if line > s.line {
			o.gaps = append(o.gaps[:i], o.gaps[i+1:]...)
			return line, true
		}
	}
	return 0, false
}

// absent reports that the receipt before is not in the input, as far as the
// index goes.
func (o *order) absent(l chain.Link) bool {
	n := o.index.node(l.Previous)
	return n.line == 0 && n.namer == 0
}

// broken says why a receipt does not follow the one before it.
func (o *order) broken(s *strand, l chain.Link) receipt.Check {
	c := receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer,
		Stated: stated(l), Computed: s.segment.Head.String(), Cause: vocab.CausePredecessorOther, Related: atLine(s.line)}
	n := o.index.node(l.Previous)
	switch {
	case l.First && s.first:
		c.Cause = vocab.CauseSecondFirst
	case l.First: // the only one, but not at the beginning
		c.Cause = vocab.CauseComesEarlier
	case n.namer > 0 && int(n.naming) == s.number:
		c.Code, c.Cause, c.Related = receipt.CodeChainFork, vocab.CausePredecessorShared, atLine(int(n.namer))
	case n.line > 0 && int(n.stream) == s.number: // it is here, but not the one before
		c.Cause = vocab.CauseComesEarlier
	}
	return c
}

// conclude fills in what the order knows of the whole input.
func (o *order) conclude(s *Summary) error {
	for _, g := range o.streams {
		s.Streams = append(s.Streams, g.segment)
		o.demands.compare(s, streamEnd{g.segment, g.found})
	}
	s.Streams = chain.Join(s.Streams)
	for _, f := range o.behind {
		f.Drawn = s.roster != nil
		s.addFinding(f)
	}
	if o.index.full() {
		s.addNote(vocab.CodeIDsNotChecked, "whether a receipt_id is used again, and whether a link leads into another stream, after the first %d receipts", o.options.mostIndexed())
	}
	o.demands.conclude(s)
	return nil
}

// namesElsewhere says that a receipt names one of another stream.
func namesElsewhere(l chain.Link, at int) receipt.Check {
	return receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer, Stated: stated(l),
		Cause: vocab.CausePredecessorElsewhere, Related: atLine(at)}
}

// unchecked leaves a link unchecked.
func unchecked(cause receipt.Cause, related receipt.Place) receipt.Check {
	return receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked, Cause: cause, Related: related}
}

// atLine is a place in the source that is being read.
func atLine(n int) receipt.Place { return receipt.Place{Index: n} }

func stated(l chain.Link) string {
	if l.First {
		return "null"
	}
	return l.Previous.String()
}
