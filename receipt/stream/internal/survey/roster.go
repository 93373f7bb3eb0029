package survey

import (
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxRoster is the maximum number of receipts whose IDs and links a run keeps, and that a report
// lists, unless the caller requested more. Merging summaries that have rosters has the same result
// as reading all receipts together. If there are more receipts, a summary contains only the ends of
// their streams. A merge keeps all receipts of all parts, regardless of their number.
const MaxRoster = 1 << 16

// A Roster lists the receipts of a summary in the form that a survey processes: by source and in
// order. The Roster of a summary is nil if there are too many receipts.
type Roster struct {
	Streams  []chain.Stream
	Sources  []Attendance
	Receipts int
	Outcomes bool // the roster contains the outcome of each receipt; rosters from older versions do not
	Whole    bool // reports contain the roster regardless of its size, because it was requested or was read from a report

	// For adding receipts.
	most    int            // maximum number of receipts in the roster
	tell    bool           // reports must contain all receipts
	of      Attendance     // properties that all sources have in common
	numbers map[string]int // number of each stream, by its key
	source  int            // number of the source of the last item, from 1
	coder   attendeeCoder
}

// An Attendance contains the receipts of one source.
type Attendance struct {
	Partial   bool   // the source is a selection of its streams
	Unordered bool   // the receipts of the source are in no particular order
	Unplaced  int    // number of documents without a position in a stream
	Packed    []byte // the receipts, encoded by an attendeeCoder
}

// NewRoster returns a roster for a run. It can contain up to most receipts. whole means that
// reports must contain all of them.
func NewRoster(partial, unordered, whole bool, most int) *Roster {
	return &Roster{Outcomes: true, tell: whole, most: most, of: Attendance{Partial: partial, Unordered: unordered}, numbers: map[string]int{}}
}

// Add adds an item that has been placed. It returns false if there are too many receipts.
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

	// A merge may determine that the link is valid. The receipt then gets the outcome that it has
	// without the fault in its link.
	if link := it.Report.Check(receipt.StepLink); !it.foreign && !a.Spare && a.Outcome != it.Alone {
		a.Fault = &Fumble{Code: link.Code, own: it.Alone.Own, reason: it.Alone.Reason}
		a.Outcome = verified() // the fault now contains the outcome
	}
	a.Before = it.Before && a.Alone().Own == receipt.Undecided

	in.Packed = r.coder.append(in.Packed, &a)
	return true
}

// Select marks all sources as selections of their streams.
func (r *Roster) Select() {
	for i := range r.Sources {
		r.Sources[i].Partial = true
	}
}

// outcomeOf returns the outcome of an item whose link has been checked.
func outcomeOf(it *Item) Outcome {
	o := Outcome{Own: it.Report.Verdict, Spare: it.Spare()}
	if o.Own != receipt.Verified {
		o.Reason = it.Report.Finding().Code
	}
	return o
}

// Documents returns the number of documents, including copies.
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

// Heads returns the streams whose expected heads are among the receipts of the roster.
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

// Read adds a source from a report. It returns an error if the receipts of that source cannot be
// unpacked.
func (r *Roster) Read(in Attendance) error {
	list, err := in.unpack(len(r.Streams))

	// A roster without outcomes must contain no outcomes.
	told := func(a Attendee) bool { return a.Outcome != verified() }
	if err != nil || in.Unplaced < 0 || !r.Outcomes && slices.ContainsFunc(list, told) {
		return errRoster
	}
	r.Receipts += len(list)
	r.Sources = append(r.Sources, in)
	r.Whole = r.Receipts > MaxRoster
	return nil
}

// A tally contains the numbers of receipts in a roster.
type tally struct {
	Contents int // different receipts
	Refuted  int // receipts with an invalid hash or link; a lower bound on refuted receipts
	Open     int // receipts that are undecided because of their links
	Spare    int // copies that are not counted
}

// Tally counts the receipts of the roster.
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

// add counts a receipt. A receipt is refuted by an invalid hash and also by an invalid link.
func (t *tally) add(a *Attendee) {
	// The link of a receipt without a fault is valid.
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
