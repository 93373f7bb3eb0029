package survey

import (
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

const previousPointer = "/chain/previous_receipt_hash"

// An Order checks the links in one ordered input, in which each receipt must name the previous
// receipt in its stream. In two cases, a fault in one document does not lead to a second finding. A
// receipt whose stated hash does not match its content keeps its position, so its successor gets no
// finding. After an unreadable document, one link is left unchecked.
type Order struct {
	Terms
	streams map[string]*strand
	named   int // total length of all stream names, in bytes
	index   *index
	damaged map[canon.Digest]int // stated and computed hashes of receipts whose stated hash does not match their content
	gaps    []int                // lines of documents without a position in a stream that have not excused a link yet
	names   []chain.Stream       // by stream number
	Behind  []disproof           // links that later receipts have shown to be invalid, up to maxBehind
}

// A judged value contains the results for the last receipt of a stream.
type judged struct {
	hash    canon.Digest
	verdict receipt.Verdict // the verdict if its link is valid
}

// A disproof is a link that a later receipt has shown to be invalid, because the link names that
// receipt, which is in another stream.
type disproof struct {
	Stream chain.Stream // stream of the receipt with the link
	Source string       // source of both receipts
	Line   int          // line of the receipt with the link
	Named  int          // line of the receipt that the link names
	Hash   canon.Digest // hash of the receipt that the link names
}

// maxBehind is the maximum number of disproofs that are kept.
const maxBehind = 1000

// maxDamaged limits the memory that an input with damaged receipts can use.
const maxDamaged = 1 << 16

// A strand is the state of one stream in an ordered input.
type strand struct {
	number  int // number of the stream, in the order in which streams first appear
	segment chain.Segment
	line    int          // line of the last receipt
	issued  time.Time    // time of the last receipt
	undated bool         // the source did not report the time in issued
	last    judged       // the last receipt whose stated hash matches its content
	sound   canon.Digest // the head before the damaged receipts at the end of the stream
	shaky   bool         // the stream currently ends with damaged receipts
	first   bool         // one of the receipts stated that it has no predecessor
	wanted  chain.Head
	found   bool // the wanted head has been found
}

// NewOrder returns an Order for an input from which no receipt has been read yet.
func NewOrder(t Terms) *Order {
	return &Order{Terms: t, streams: map[string]*strand{}, index: newIndex(t.Indexed), damaged: map[canon.Digest]int{}}
}

// Place checks the link of an item.
func (o *Order) Place(it *Item) error {
	f := &it.Facts
	if !f.Placed {
		if it.Other == "" && len(o.gaps) < maxDamaged {
			o.gaps = append(o.gaps, it.Index)
		}
		return nil
	}

	// All receipts with the same ID must have the same content. A receipt with the same content is
	// a copy, and a receipt with different content is refuted.
	if f.holds && o.repeats(it) {
		return nil
	}

	// A damaged receipt does not start a stream, because the stream name that it states may be
	// damaged as well.
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
// same ID but different content, the item is refuted.
func (o *Order) repeats(it *Item) bool {
	before, ok := o.index.ids[it.Facts.ID]
	switch {
	case !ok:
		return false
	case before.hash != short(it.Facts.Computed):
		it.Link(receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeDuplicateID, Pointer: "/receipt_id",
			Stated: it.Report.ReceiptID.String(), Cause: receipt.CauseIDTaken, Related: atLine(int(before.line))})
		return false
	}
	o.repeat(it, int(before.line), before.verdict)
	return true
}

// again reports whether an item after the limit of the index is, or may be, a copy of an earlier
// receipt. If the item may be a copy of a receipt other than the previous one, its link is left
// unchecked.
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

// repeat marks an item as a copy of the receipt at the given line.
func (o *Order) repeat(it *Item, line int, verdict receipt.Verdict) {
	it.Link(receipt.Check{Status: receipt.StatusNotApplicable})
	it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeIdenticalCopy, Detail: fmt.Sprintf("line %d contains the same receipt", line)})
	it.Again, it.Copy = true, verdict == it.Report.Verdict
}

// disprove records a link that names this receipt but belongs to another stream.
func (o *Order) disprove(s *strand, it *Item) {
	n := o.index.node(it.Facts.Computed)
	if !it.Facts.holds || !n.open || int(n.naming) == s.number || len(o.Behind) >= maxBehind {
		return
	}
	o.Behind = append(o.Behind, disproof{o.names[n.naming], it.Report.Source, int(n.namer), it.Index, it.Facts.Computed})
}

// begin starts a stream with the first receipt of that stream.
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
		return s, nil // nothing is known about the predecessor or successor of a single receipt
	}

	// The predecessor of the first receipt is known only if the caller specified it.
	check := o.first(f.Link, after)
	it.foreign = check.Status == receipt.StatusFailed && !after.IsZero()
	it.Link(check)
	return s, nil
}

// first checks the link of the first receipt in a stream. after is the hash that it must name as
// its predecessor, or zero if that hash is not known.
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

// follow checks whether a receipt follows the previous receipt in its stream.
func (o *Order) follow(s *strand, it *Item) {
	f := &it.Facts
	one := chain.SegmentOf(s.segment.Stream, f.Link)
	check := receipt.Check{Status: receipt.StatusPassed}
	if !s.segment.Joins(one) {
		if !f.holds { // a damaged receipt gets no second finding
			o.damage(it)
			return
		}
		check = o.apart(s, f.Link)
		if check.Status != receipt.StatusFailed { // nothing shows that the receipt is in the wrong position
			one.First, one.Previous = false, s.segment.Head
		}
	}

	// A receipt must come after its predecessor.
	if n := o.index.node(f.Computed); f.holds && check.Status != receipt.StatusFailed && n.open && int(n.naming) == s.number {
		check = o.broken(s, f.Link)
		check.Cause, check.Related = receipt.CauseNamedEarlier, atLine(int(n.namer))
		s.segment.Failures++
	}

	// Clocks can be inaccurate, so this is only a warning. Times that the source did not report are
	// not compared.
	if !f.undated && !s.undated && f.Issued.Before(s.issued) {
		it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeTimeOrder, Pointer: "/issued_at", Detail: fmt.Sprintf("it was issued before line %d, its predecessor", s.line)})
	}

	// A damaged receipt keeps its position in the stream. An intact copy of it would name the head
	// before it.
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

// apart checks a receipt that does not name the previous receipt as its predecessor.
func (o *Order) apart(s *strand, l chain.Link) receipt.Check {
	if l.First {
		return o.broken(s, l)
	}
	if n := o.index.node(l.Previous); n.line > 0 && int(n.stream) != s.number {
		return namesElsewhere(l, int(n.line))
	}

	// The receipt may follow a damaged receipt. It may also be an intact copy of the damaged
	// receipt, and name the receipt before that.
	if _, damaged := o.damaged[l.Previous]; damaged || s.shaky && l.Previous == s.sound {
		return receipt.Check{Status: receipt.StatusPassed}
	}

	// The receipt that it names may be in an unreadable document.
	if at, ok := o.forgive(s); ok {
		return unchecked(receipt.CauseUnreadable, atLine(at))
	}
	if o.Partial && o.absent(s, l) {
		return unchecked(receipt.CauseSelection, receipt.Place{})
	}

	return o.broken(s, l)
}

// damage records the stated and computed hashes of a damaged receipt.
func (o *Order) damage(it *Item) {
	if len(o.damaged) < maxDamaged {
		o.damaged[it.Facts.Link.Hash] = it.Index
		o.damaged[it.Facts.Computed] = it.Index
	}
	it.Link(unchecked(receipt.CauseOwnHash, receipt.Place{}))
}

// forgive finds an unreadable document after the last receipt of a stream. Each such document
// excuses only one link.
func (o *Order) forgive(s *strand) (line int, ok bool) {
	for i, line := range o.gaps {
		if line > s.line {
			o.gaps = append(o.gaps[:i], o.gaps[i+1:]...)
			return line, true
		}
	}
	return 0, false
}

// absent reports whether the named receipt is not in the input, as far as the index shows. If two
// streams name the same absent receipt, nothing shows which of them is wrong.
func (o *Order) absent(s *strand, l chain.Link) bool {
	n := o.index.node(l.Previous)
	return n.line == 0 && (n.namer == 0 || int(n.naming) != s.number)
}

// broken returns a failed check for a receipt that does not follow the previous receipt.
func (o *Order) broken(s *strand, l chain.Link) receipt.Check {
	c := receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer,
		Stated: Stated(l), Computed: s.segment.Head.String(), Cause: receipt.CausePredecessorOther, Related: atLine(s.line)}

	// The index shows where the named receipt is, or which other receipt names it.
	n := o.index.node(l.Previous)
	switch {
	case l.First && s.first:
		c.Cause = receipt.CauseSecondFirst
	case l.First: // no other receipt lacks a predecessor, but this receipt is not the first one
		c.Cause = receipt.CauseComesEarlier
	case n.namer > 0 && int(n.naming) == s.number:
		c.Code, c.Cause, c.Related = receipt.CodeChainFork, receipt.CausePredecessorShared, atLine(int(n.namer))
	case n.line > 0 && int(n.stream) == s.number: // the named receipt comes before the previous receipt
		c.Cause = receipt.CauseComesEarlier
	}
	return c
}

// Ends returns the end of each stream.
func (o *Order) Ends() (list []End) {
	for _, s := range o.streams {
		list = append(list, End{s.segment, s.found})
	}
	return list
}

// Full reports whether there were too many receipts to compare all of their IDs.
func (o *Order) Full() bool { return o.index.full() }

// namesElsewhere returns a failed check for a receipt that names a receipt in another stream as its
// predecessor.
func namesElsewhere(l chain.Link, at int) receipt.Check {
	return receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Pointer: previousPointer, Stated: Stated(l),
		Cause: receipt.CausePredecessorElsewhere, Related: atLine(at)}
}

// unchecked returns a check for a link that was not checked.
func unchecked(cause receipt.Cause, related receipt.Place) receipt.Check {
	return receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked, Cause: cause, Related: related}
}

// atLine returns a place in the current source.
func atLine(n int) receipt.Place { return receipt.Place{Index: n} }

// Stated returns the predecessor that a link names, in the form used in reports.
func Stated(l chain.Link) string {
	if l.First {
		return "null"
	}
	return l.Previous.String()
}
