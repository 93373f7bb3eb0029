package survey

import (
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxRoster is how many receipts a run remembers with their ids and links, and a report
// tells, unless more were asked for, so that it can be merged with others as if all had been
// read together. The summary of more receipts knows only where their streams begin and end.
// A merge remembers all that its parts do, however many these are together.
const MaxRoster = 1 << 16

// A Roster is the receipts of a summary as a survey sees them: by source, in
// their order. Nil is a summary that does not remember them.
type Roster struct {
	Streams  []chain.Stream
	Sources  []Attendance
	Receipts int
	Outcomes bool // it tells what each receipt is counted as; an older version's did not
	Whole    bool // a report tells all of it, however many: it was asked for, or read so

	// While receipts are added.
	most    int            // of them
	tell    bool           // a report is to tell all of them
	of      Attendance     // what is known of each source
	numbers map[string]int // of streams by their key
	source  int            // of the last item, counted from 1
	coder   attendeeCoder
}

// An Attendance is what one source holds.
type Attendance struct {
	Partial   bool   // of a selection
	Unordered bool   // its receipts are in no order
	Unplaced  int    // documents that state no place in a stream
	Packed    []byte // its receipts, as attendeeCoder writes them
}

// NewRoster returns a roster of a run, of so many receipts at most. Whole says that a report
// is to tell all of it.
func NewRoster(partial, unordered, whole bool, most int) *Roster {
	return &Roster{Outcomes: true, tell: whole, most: most, of: Attendance{Partial: partial, Unordered: unordered}, numbers: map[string]int{}}
}

// Add remembers an item that was placed. It reports false when there is no room.
func (r *Roster) Add(it *Item) bool {
	if it.Source+1 != r.source {
		r.source = it.Source + 1
		r.coder.begin(len(r.Streams))
		r.Sources = append(r.Sources, r.of)
	}

	in := &r.Sources[len(r.Sources)-1]
	f := &it.Facts
	if !f.Placed {
		in.Unplaced++
		return true
	}
	if r.Receipts++; r.Receipts > r.most {
		return false
	}
	r.Whole = r.tell

	a := Attendee{again: it.Again, link: f.Link, computed: f.Computed, id: f.ID, issued: f.Issued.UnixMilli(), Outcome: outcomeOf(it)}
	var known bool
	if a.stream, known = r.numbers[string(f.Key)]; !known {
		a.stream = len(r.Streams)
		r.numbers[string(f.Key)] = a.stream
		r.Streams = append(r.Streams, f.Key.Stream())
		r.coder.grow()
	}

	// A merge may find that the link holds: then the receipt is what it is alone.
	if link := it.Report.Check(receipt.StepLink); !it.foreign && !a.Spare && a.Outcome != it.Alone {
		a.Fault = &Fumble{Code: link.Code, own: it.Alone.Own, reason: it.Alone.Reason}
		a.Outcome = verified() // the fault tells it
	}
	a.Before = it.Before && a.Alone().Own == receipt.Undecided

	in.Packed = r.coder.append(in.Packed, &a)
	return true
}

// outcomeOf is what a judged item is counted as.
func outcomeOf(it *Item) Outcome {
	o := Outcome{Own: it.Report.Verdict, Spare: it.Spare()}
	if o.Own != receipt.Verified {
		o.Reason = it.Report.Finding().Code
	}
	return o
}

// Documents is how many documents a roster is of, copies too.
func (r *Roster) Documents() int {
	n := r.Receipts
	for _, in := range r.Sources {
		n += in.Unplaced
	}
	return n
}

var errRoster = errors.New("its roster is malformed")

// unpack returns the receipts of a source.
func (in *Attendance) unpack(streams int) (list []Attendee, err error) {
	var c attendeeCoder
	c.begin(streams)
	for u := (unpacker{rest: in.Packed}); len(u.rest) > 0; {
		a, err := c.parse(&u)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// Heads returns the streams whose wanted heads are among the receipts.
func (r *Roster) Heads(w *Wanted) (has map[chain.Stream]bool, err error) {
	has = map[chain.Stream]bool{}
	for _, in := range r.Sources {
		list, err := in.unpack(len(r.Streams))
		if err != nil {
			return nil, err
		}
		for i := range list {
			if stream := r.Streams[list[i].stream]; list[i].link.Hash == w.Head(stream).Hash {
				has[stream] = true
			}
		}
	}
	return has, nil
}

// Read adds a source of a report, and makes sure that it can be unpacked.
func (r *Roster) Read(in Attendance) error {
	list, err := in.unpack(len(r.Streams))
	told := func(a Attendee) bool { return a.Outcome != verified() }
	if err != nil || in.Unplaced < 0 || !r.Outcomes && slices.ContainsFunc(list, told) {
		return errRoster
	}
	r.Receipts += len(list)
	r.Sources = append(r.Sources, in)
	r.Whole = r.Receipts > MaxRoster
	return nil
}

// A tally is what receipts of a roster are counted as.
type tally struct {
	Contents int // different receipts
	Refuted  int // at least: by false hashes, and links that fail
	Open     int // undecided by their links
	Spare    int // copies that do not count
}

// Tally counts the receipts.
func (r *Roster) Tally() (t tally, err error) {
	contents := map[canon.Digest]bool{}
	for i := range r.Sources {
		list, err := r.Sources[i].unpack(len(r.Streams))
		if err != nil {
			return tally{}, err
		}
		for k := range list {
			contents[list[k].link.Hash] = true
			t.add(&list[k])
		}
	}
	t.Contents = len(contents)
	return t, nil
}

// add counts a receipt. A false hash refutes it, and so does a link that fails.
func (t *tally) add(a *Attendee) {
	linked := receipt.Verified
	if a.Fault != nil {
		linked = a.Fault.Counted().Own
	}
	if !a.holds() || a.Own == receipt.Refuted || linked == receipt.Refuted {
		t.Refuted++
	}
	if linked == receipt.Undecided && !a.Spare {
		t.Open++
	}
	if a.Spare {
		t.Spare++
	}
}
