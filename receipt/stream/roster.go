package stream

import (
	"errors"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// maxRoster is how many receipts a run remembers with their ids and links, and a report
// tells, unless more were asked for, so that it can be merged with others as if all had been
// read together. The summary of more receipts knows only where their streams begin and end.
// A merge remembers all that its parts do, however many these are together.
const maxRoster = 1 << 16

// A roster is the receipts of a summary as a survey sees them: by source, in
// their order. Nil is a summary that does not remember them.
type roster struct {
	streams  []chain.Stream
	sources  []attendance
	receipts int
	outcomes bool // it tells what each receipt is counted as; an older version's did not
	whole    bool // a report tells all of it, however many: it was asked for, or read so

	// While receipts are added.
	numbers map[string]int // of streams by their key
	source  int            // of the last item, counted from 1
	coder   attendeeCoder
}

// An attendance is what one source holds.
type attendance struct {
	partial   bool   // of a selection
	unordered bool   // its receipts are in no order
	unplaced  int    // documents that state no place in a stream
	packed    []byte // its receipts, as attendeeCoder writes them
}

func newRoster() *roster { return &roster{outcomes: true, numbers: map[string]int{}} }

// add remembers an item that was placed. It reports false when there is no room.
func (r *roster) add(it *item, o *Options) bool {
	if it.source+1 != r.source {
		r.source = it.source + 1
		r.coder.begin(len(r.streams))
		r.sources = append(r.sources, attendance{partial: o.Partial, unordered: o.Unordered})
	}

	in := &r.sources[len(r.sources)-1]
	f := &it.facts
	if !f.placed {
		in.unplaced++
		return true
	}
	if r.receipts++; r.receipts > o.mostRostered() {
		return false
	}
	r.whole = o.Mergeable

	a := attendee{again: it.again, link: f.link, computed: f.computed, id: f.id, issued: f.issued.UnixMilli(), outcome: outcomeOf(it)}
	var known bool
	if a.stream, known = r.numbers[string(f.key)]; !known {
		a.stream = len(r.streams)
		r.numbers[string(f.key)] = a.stream
		r.streams = append(r.streams, f.key.stream())
		r.coder.grow()
	}

	// A merge may find that the link holds: then the receipt is what it is alone.
	if link := it.rep.Check(receipt.StepLink); !it.foreign && !a.spare && a.outcome != it.alone {
		a.fault = &fumble{code: link.Code, own: it.alone.own, reason: it.alone.reason}
		a.outcome = verified() // the fault tells it
	}
	a.before = it.before && a.alone().own == receipt.Undecided

	in.packed = r.coder.append(in.packed, &a)
	return true
}

// outcomeOf is what a judged item is counted as.
func outcomeOf(it *item) outcome {
	o := outcome{own: it.rep.Verdict, spare: it.spare()}
	if o.own != receipt.Verified {
		o.reason = it.rep.Finding().Code
	}
	return o
}

// documents is how many documents a roster is of, copies too.
func (r *roster) documents() int {
	n := r.receipts
	for _, in := range r.sources {
		n += in.unplaced
	}
	return n
}

var errRoster = errors.New("its roster is malformed")

// unpack returns the receipts of a source.
func (in *attendance) unpack(streams int) (list []attendee, err error) {
	var c attendeeCoder
	c.begin(streams)
	for u := (unpacker{rest: in.packed}); len(u.rest) > 0; {
		a, err := c.parse(&u)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}
