package survey

import (
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

const previousPointer = "/chain/previous_receipt_hash"

// An Order judges the links of one ordered input: each receipt has to name the
// one before it in its stream. Two kinds of neighbours are not a second finding: a
// receipt that does not fit its own hash stands where its successor says it
// stands, and after something unreadable one link cannot be checked.
type Order struct {
	Terms
	streams map[string]*strand
	named   int // bytes of the names of streams
	index   *index
	damaged map[canon.Digest]int // hashes, stated and computed, of receipts that do not fit theirs
	gaps    []int                // lines that state no place, and that no link has been forgiven for
	names   []chain.Stream       // by the number of the stream
	Behind  []disproof           // links that later receipts showed to be false, the first maxBehind
}

// Judged is what is known of the last receipt of a stream.
type judged struct {
	hash    canon.Digest
	verdict receipt.Verdict // if its link holds
}

// A disproof is a link that a later receipt showed to be false: it names that one, which
// is of another stream.
type disproof struct {
	Stream chain.Stream // of the link
	Source string       // of both receipts
	Line   int          // of the receipt that names the other
	Named  int          // line of that one
	Hash   canon.Digest // of that one
}

// maxBehind is how many disproofs are kept.
const maxBehind = 1000

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

// NewOrder returns an order of an input that has no receipts yet.
func NewOrder(t Terms) *Order {
	return &Order{Terms: t, streams: map[string]*strand{}, index: newIndex(t.Indexed), damaged: map[canon.Digest]int{}}
}

// Place judges the link of an item.
func (o *Order) Place(it *Item) error {
	f := &it.Facts
	if !f.Placed {
		if it.Other == "" && len(o.gaps) < maxDamaged {
			o.gaps = append(o.gaps, it.Index)
		}
		return nil
	}

	// An id has one content: another one refutes, and the same one is a copy.
	if f.holds && o.repeats(it) {
		return nil
	}

	// A damaged receipt opens no stream: its names may be what was damaged.
	s := o.streams[string(f.Key)]
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
	s.line, s.issued, s.undated = it.Index, f.Issued, f.undated
	s.found = s.found || f.Link.Hash == s.wanted.Hash
	if f.holds {
		o.index.add(it, s.number)
		s.last = judged{f.Computed, it.Alone.Own}
	}

	return nil
}

// repeats reports whether the item's id was there before: as the same receipt,
// which counts once, or as another one, which refutes.
func (o *Order) repeats(it *Item) bool {
	before, ok := o.index.ids[it.Facts.ID]
	switch {
	case !ok:
		return false
	case before.hash != short(it.Facts.Computed):
		it.Verifier.Link(&it.Report, receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeDuplicateID, Pointer: "/receipt_id",
			Stated: it.Facts.Computed.String(), Cause: receipt.CauseIDTaken, Related: atLine(int(before.line))})
		return false
	}
	o.repeat(it, int(before.line), before.verdict)
	return true
}

// again reports whether an item after those of the index repeats the receipt before it,
// or may repeat another one: nobody can tell.
func (o *Order) again(s *strand, it *Item) bool {
	f := &it.Facts
	switch {
	case !o.index.full() || s.segment.Joins(chain.SegmentOf(s.segment.Stream, f.Link)):
		return false
	case f.Computed == s.last.hash:
		o.repeat(it, s.line, s.last.verdict)
		return true
	case o.index.maybeCopy(f.Computed):
		it.Verifier.Link(&it.Report, receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeCopyNotChecked, Related: atLine(s.line),
			Reason: fmt.Sprintf("it does not follow line %d, and may be a copy of a receipt after the first %d", s.line, o.Indexed)})
		return true
	}
	return false
}

// repeat makes an item a copy of the receipt at a line.
func (o *Order) repeat(it *Item, line int, verdict receipt.Verdict) {
	it.Verifier.Link(&it.Report, receipt.Check{Status: receipt.StatusNotApplicable})
	it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeIdenticalCopy, Detail: fmt.Sprintf("line %d is the same receipt", line)})
	it.Again, it.Copy = true, verdict == it.Report.Verdict
}

// disprove finds the link of another stream's receipt, left open before, that
// names this one.
func (o *Order) disprove(s *strand, it *Item) {
	n := o.index.node(it.Facts.Computed)
	if !it.Facts.holds || !n.open || int(n.naming) == s.number || len(o.Behind) >= maxBehind {
		return
	}
	o.Behind = append(o.Behind, disproof{o.names[n.naming], it.Report.Source, int(n.namer), it.Index, it.Facts.Computed})
}

// begin opens a stream with its first receipt.
func (o *Order) begin(it *Item) (*strand, error) {
	f := &it.Facts
	stream := f.Key.Stream()
	if o.One && len(o.streams) > 0 {
		return nil, ErrStreams
	}
	if o.named += len(f.Key); !o.Bounded(len(o.streams)+1, o.named) {
		return nil, ErrManyStreams
	}

	s := &strand{number: len(o.names), segment: chain.SegmentOf(stream, f.Link), first: f.Link.First}
	o.streams[string(f.Key)] = s
	o.names = append(o.names, stream)
	s.wanted = o.Head(stream)
	after := o.Previous(stream)
	if it.Single && after.IsZero() {
		return s, nil // one receipt shows nothing of what precedes or follows it
	}

	// What precedes the first receipt is known only when it was given.
	check := o.first(f.Link, after)
	it.foreign = check.Status == receipt.StatusFailed && !after.IsZero()
	it.Verifier.Link(&it.Report, check)
	return s, nil
}

// first judges the first receipt of a stream; after is what it must name, or
// zero when that is not known.
func (o *Order) first(l chain.Link, after canon.Digest) receipt.Check {
	_, damaged := o.damaged[l.Previous]
	n := o.index.node(l.Previous)
	switch {
	case !l.First && n.line > 0:
		return namesElsewhere(l, int(n.line))
	case !after.IsZero() && (l.First || l.Previous != after):
		return receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer,
			Stated: Stated(l), Computed: after.String(), Cause: receipt.CausePredecessorNotGiven}
	case l.First, !after.IsZero(), damaged:
		return receipt.Check{Status: receipt.StatusPassed}
	}
	return unchecked(receipt.CausePredecessorAbsent, receipt.Place{})
}

// follow judges a receipt by the one before it in its stream.
func (o *Order) follow(s *strand, it *Item) {
	f := &it.Facts
	one := chain.SegmentOf(s.segment.Stream, f.Link)
	check := receipt.Check{Status: receipt.StatusPassed}
	if !s.segment.Joins(one) {
		if !f.holds { // one finding, not two
			o.damage(it)
			return
		}
		check = o.apart(s, f.Link)
		if check.Status != receipt.StatusFailed { // nothing shows that it does not follow
			one.First, one.Previous = false, s.segment.Head
		}
	}

	// A predecessor comes before the receipt that names it.
	if n := o.index.node(f.Computed); f.holds && check.Status != receipt.StatusFailed && n.open && int(n.naming) == s.number {
		check = o.broken(s, f.Link)
		check.Cause, check.Related = receipt.CauseNamedEarlier, atLine(int(n.namer))
		s.segment.Failures.Count++
	}

	// Clocks go wrong: this warns, and refutes nothing. A time that nobody told is before none.
	if !f.undated && !s.undated && f.Issued.Before(s.issued) {
		it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeTimeOrder, Pointer: "/issued_at", Detail: fmt.Sprintf("it was issued before line %d, its predecessor", s.line)})
	}

	// A damaged receipt keeps its place. A true copy of it would follow the head
	// before it.
	if f.holds {
		it.Verifier.Link(&it.Report, check)
		s.shaky = false
	} else {
		o.damage(it)
		if !s.shaky {
			s.shaky, s.sound = true, s.segment.Head
		}
	}
	s.segment, s.first = s.segment.Merge(one), s.first || f.Link.First
}

// apart judges a receipt that does not name the one before it.
func (o *Order) apart(s *strand, l chain.Link) receipt.Check {
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
		return unchecked(receipt.CauseUnreadable, atLine(at))
	}
	if o.Partial && o.absent(l) {
		return unchecked(receipt.CauseSelection, receipt.Place{})
	}

	return o.broken(s, l)
}

// damage remembers a receipt that does not fit its own hash, by both hashes.
func (o *Order) damage(it *Item) {
	if len(o.damaged) < maxDamaged {
		o.damaged[it.Facts.Link.Hash] = it.Index
		o.damaged[it.Facts.Computed] = it.Index
	}
	it.Verifier.Link(&it.Report, unchecked(receipt.CauseOwnHash, receipt.Place{}))
}

// forgive finds something unreadable between the last receipt of a stream and
// now. Each such line is forgiven once.
func (o *Order) forgive(s *strand) (line int, ok bool) {
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
func (o *Order) absent(l chain.Link) bool {
	n := o.index.node(l.Previous)
	return n.line == 0 && n.namer == 0
}

// broken says why a receipt does not follow the one before it.
func (o *Order) broken(s *strand, l chain.Link) receipt.Check {
	c := receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer,
		Stated: Stated(l), Computed: s.segment.Head.String(), Cause: receipt.CausePredecessorOther, Related: atLine(s.line)}
	n := o.index.node(l.Previous)
	switch {
	case l.First && s.first:
		c.Cause = receipt.CauseSecondFirst
	case l.First: // the only one, but not at the beginning
		c.Cause = receipt.CauseComesEarlier
	case n.namer > 0 && int(n.naming) == s.number:
		c.Code, c.Cause, c.Related = receipt.CodeChainFork, receipt.CausePredecessorShared, atLine(int(n.namer))
	case n.line > 0 && int(n.stream) == s.number: // it is here, but not the one before
		c.Cause = receipt.CauseComesEarlier
	}
	return c
}

// Ends are where the streams end.
func (o *Order) Ends() (list []End) {
	for _, s := range o.streams {
		list = append(list, End{s.segment, s.found})
	}
	return list
}

// Full reports whether there were more receipts than are compared by their ids.
func (o *Order) Full() bool { return o.index.full() }

// namesElsewhere says that a receipt names one of another stream.
func namesElsewhere(l chain.Link, at int) receipt.Check {
	return receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer, Stated: Stated(l),
		Cause: receipt.CausePredecessorElsewhere, Related: atLine(at)}
}

// unchecked leaves a link unchecked.
func unchecked(cause receipt.Cause, related receipt.Place) receipt.Check {
	return receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked, Cause: cause, Related: related}
}

// atLine is a place in the source that is being read.
func atLine(n int) receipt.Place { return receipt.Place{Index: n} }

// Stated is the predecessor that a link names, as reports write it.
func Stated(l chain.Link) string {
	if l.First {
		return "null"
	}
	return l.Previous.String()
}
