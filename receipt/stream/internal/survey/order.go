package survey

import (
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

const previousPointer = "/chain/previous_receipt_hash"

// An Order judges the links in one ordered input, in which each receipt must name the previous
// receipt in its stream. Two cases do not result in a second finding. A receipt that does not match
// its own hash keeps the place that its successor names, and after an unreadable document, one link
// is not checked.
type Order struct {
	Terms
	streams map[string]*strand
	named   int // total length of the streams' names in bytes
	index   *index
	damaged map[canon.Digest]int // stated and computed hashes of receipts that do not match their own hash
	gaps    []int                // lines that state no place and have not excused a link yet
	names   []chain.Stream       // by the number of the stream
	Behind  []disproof           // links that later receipts showed to be invalid, up to maxBehind
}

// A judged contains the results for a stream's last receipt.
type judged struct {
	hash    canon.Digest
	verdict receipt.Verdict // if the link holds
}

// A disproof is a link that a later receipt showed to be invalid: it names that receipt, which is
// in another stream.
type disproof struct {
	Stream chain.Stream // of the receipt with the link
	Source string       // of both receipts
	Line   int          // of the receipt with the link
	Named  int          // line of the receipt that it names
	Hash   canon.Digest // of the receipt that it names
}

// maxBehind is the maximum number of disproofs that are kept.
const maxBehind = 1000

// maxDamaged limits the memory that an input with damaged receipts can use.
const maxDamaged = 1 << 16

// A strand is one stream in an ordered input.
type strand struct {
	number  int // of the stream, in the order of their first receipts
	segment chain.Segment
	line    int          // of the last receipt
	issued  time.Time    // of the last receipt
	undated bool         // issued is not a time that the source reported
	last    judged       // the last receipt whose content matches its hash
	sound   canon.Digest // the head before the damaged receipts at the end
	shaky   bool         // the last receipts are damaged
	first   bool         // a receipt stated that it has no predecessor
	wanted  chain.Head
	found   bool // the wanted head has occurred
}

// NewOrder returns an order for an input without receipts.
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

	// An ID has only one content. The same content again is a copy, and different content refutes.
	if f.holds && o.repeats(it) {
		return nil
	}

	// A damaged receipt does not start a stream, because the name of the stream may be damaged.
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

	// The item is now the last receipt of its stream.
	s.line, s.issued, s.undated = it.Index, f.Issued, f.undated
	s.found = s.found || f.Link.Hash == s.wanted.Hash
	if f.holds {
		o.index.add(it, s.number)
		s.last = judged{f.Computed, it.Alone.Own}
	}

	return nil
}

// repeats reports whether the item is a copy of an earlier receipt. If an earlier receipt has the
// same ID but different content, repeats refutes the item.
func (o *Order) repeats(it *Item) bool {
	before, ok := o.index.ids[it.Facts.ID]
	switch {
	case !ok:
		return false
	case before.hash != short(it.Facts.Computed):
		it.Link(receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeDuplicateID, Pointer: "/receipt_id",
			Stated: it.Facts.Computed.String(), Cause: receipt.CauseIDTaken, Related: atLine(int(before.line))})
		return false
	}
	o.repeat(it, int(before.line), before.verdict)
	return true
}

// again reports whether an item beyond the limit of the index is a copy of the previous receipt, or
// may be a copy of another receipt, in which case its link is not checked.
func (o *Order) again(s *strand, it *Item) bool {
	f := &it.Facts
	switch {
	case !o.index.full() || s.segment.Joins(chain.SegmentOf(s.segment.Stream, f.Link)):
		return false
	case f.Computed == s.last.hash:
		o.repeat(it, s.line, s.last.verdict)
		return true
	case o.index.maybeCopy(f.Computed):
		it.Link(receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeCopyNotChecked, Related: atLine(s.line),
			Reason: fmt.Sprintf("it does not follow line %d, and may be a copy of a receipt after the first %d", s.line, o.Indexed)})
		return true
	}
	return false
}

// repeat marks an item as a copy of the receipt at a line.
func (o *Order) repeat(it *Item, line int, verdict receipt.Verdict) {
	it.Link(receipt.Check{Status: receipt.StatusNotApplicable})
	it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeIdenticalCopy, Detail: fmt.Sprintf("line %d contains the same receipt", line)})
	it.Again, it.Copy = true, verdict == it.Report.Verdict
}

// disprove finds an unchecked link in another stream that names this receipt.
func (o *Order) disprove(s *strand, it *Item) {
	n := o.index.node(it.Facts.Computed)
	if !it.Facts.holds || !n.open || int(n.naming) == s.number || len(o.Behind) >= maxBehind {
		return
	}
	o.Behind = append(o.Behind, disproof{o.names[n.naming], it.Report.Source, int(n.namer), it.Index, it.Facts.Computed})
}

// begin starts a stream with its first receipt.
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
		return s, nil // a single receipt shows nothing about predecessors or successors
	}

	// The predecessor of the first receipt is known only if it was given.
	check := o.first(f.Link, after)
	it.foreign = check.Status == receipt.StatusFailed && !after.IsZero()
	it.Link(check)
	return s, nil
}

// first judges the first receipt of a stream. after is the hash that it must name, or zero
// if that is unknown.
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

// follow judges a receipt against the previous receipt in its stream.
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

	// A predecessor must come before the receipt that names it.
	if n := o.index.node(f.Computed); f.holds && check.Status != receipt.StatusFailed && n.open && int(n.naming) == s.number {
		check = o.broken(s, f.Link)
		check.Cause, check.Related = receipt.CauseNamedEarlier, atLine(int(n.namer))
		s.segment.Failures++
	}

	// Clocks can be wrong, so this is only a warning. A time that the source did not report is not
	// compared.
	if !f.undated && !s.undated && f.Issued.Before(s.issued) {
		it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeTimeOrder, Pointer: "/issued_at", Detail: fmt.Sprintf("it was issued before line %d, its predecessor", s.line)})
	}

	// A damaged receipt keeps its place. An intact copy of it would follow the previous head.
	if f.holds {
		it.Link(check)
		s.shaky = false
	} else {
		o.damage(it)
		if !s.shaky {
			s.shaky, s.sound = true, s.segment.Head
		}
	}
	s.segment, s.first = s.segment.Merge(one), s.first || f.Link.First
}

// apart judges a receipt that does not name the previous receipt.
func (o *Order) apart(s *strand, l chain.Link) receipt.Check {
	if l.First {
		return o.broken(s, l)
	}
	if n := o.index.node(l.Previous); n.line > 0 && int(n.stream) != s.number {
		return namesElsewhere(l, int(n.line))
	}

	// It may follow a damaged receipt, or be the intact copy of a damaged receipt and follow the
	// receipt before that one.
	if _, damaged := o.damaged[l.Previous]; damaged || s.shaky && l.Previous == s.sound {
		return receipt.Check{Status: receipt.StatusPassed}
	}

	// An unreadable document may be the receipt that it names.
	if at, ok := o.forgive(s); ok {
		return unchecked(receipt.CauseUnreadable, atLine(at))
	}
	if o.Partial && o.absent(l) {
		return unchecked(receipt.CauseSelection, receipt.Place{})
	}

	return o.broken(s, l)
}

// damage records both hashes of a receipt that does not match its own hash.
func (o *Order) damage(it *Item) {
	if len(o.damaged) < maxDamaged {
		o.damaged[it.Facts.Link.Hash] = it.Index
		o.damaged[it.Facts.Computed] = it.Index
	}
	it.Link(unchecked(receipt.CauseOwnHash, receipt.Place{}))
}

// forgive finds an unreadable document after the last receipt of a stream. Each such line
// excuses one link.
func (o *Order) forgive(s *strand) (line int, ok bool) {
	for i, line := range o.gaps {
		if line > s.line {
			o.gaps = append(o.gaps[:i], o.gaps[i+1:]...)
			return line, true
		}
	}
	return 0, false
}

// absent reports whether the named receipt is not in the input, as far as the index shows.
func (o *Order) absent(l chain.Link) bool {
	n := o.index.node(l.Previous)
	return n.line == 0 && n.namer == 0
}

// broken returns the check of a receipt that does not follow the previous receipt.
func (o *Order) broken(s *strand, l chain.Link) receipt.Check {
	c := receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer,
		Stated: Stated(l), Computed: s.segment.Head.String(), Cause: receipt.CausePredecessorOther, Related: atLine(s.line)}

	// The index shows where the named receipt is, or which receipt named it first.
	n := o.index.node(l.Previous)
	switch {
	case l.First && s.first:
		c.Cause = receipt.CauseSecondFirst
	case l.First: // it is the only such receipt, but not the first receipt
		c.Cause = receipt.CauseComesEarlier
	case n.namer > 0 && int(n.naming) == s.number:
		c.Code, c.Cause, c.Related = receipt.CodeChainFork, receipt.CausePredecessorShared, atLine(int(n.namer))
	case n.line > 0 && int(n.stream) == s.number: // the named receipt precedes the previous one
		c.Cause = receipt.CauseComesEarlier
	}
	return c
}

// Ends returns where the streams end.
func (o *Order) Ends() (list []End) {
	for _, s := range o.streams {
		list = append(list, End{s.segment, s.found})
	}
	return list
}

// Full reports whether there were more receipts than can be compared by their IDs.
func (o *Order) Full() bool { return o.index.full() }

// namesElsewhere returns the check of a receipt that names a receipt in another stream.
func namesElsewhere(l chain.Link, at int) receipt.Check {
	return receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer, Stated: Stated(l),
		Cause: receipt.CausePredecessorElsewhere, Related: atLine(at)}
}

// unchecked returns the check for a link that was not checked.
func unchecked(cause receipt.Cause, related receipt.Place) receipt.Check {
	return receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked, Cause: cause, Related: related}
}

// atLine returns a place in the current source.
func atLine(n int) receipt.Place { return receipt.Place{Index: n} }

// Stated returns the predecessor that a link names, in the form that reports use.
func Stated(l chain.Link) string {
	if l.First {
		return "null"
	}
	return l.Previous.String()
}
