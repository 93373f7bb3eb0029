package survey

import (
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxRoster is the maximum number of receipts whose IDs and links a run keeps, and a report lists,
// unless more were requested. A summary with a roster can be merged with the same result as reading
// all receipts together. For more receipts, a summary contains only the ends of their streams. A
// merge keeps all receipts of its parts, regardless of their number.
const MaxRoster = 1 << 16

// A Roster lists a summary's receipts as a survey processes them, by source and in order. A summary
// with too many receipts has a nil Roster.
type Roster struct {
	Streams  []chain.Stream
	Sources  []Attendance
	Receipts int
	Outcomes bool // the roster contains each receipt's outcome; an older version's rosters do not
	Whole    bool // a report contains the roster regardless of its size: it was requested or read

	// For adding receipts.
	most    int            // maximum number of receipts
	tell    bool           // a report must contain all receipts
	of      Attendance     // the properties of each source
	numbers map[string]int // of streams, by their key
	source  int            // source of the last item, counting from 1
	coder   attendeeCoder
}

// An Attendance contains the receipts of one source.
type Attendance struct {
	Partial   bool   // the source is a selection
	Unordered bool   // the source's receipts are unordered
	Unplaced  int    // documents that state no place in a stream
	Packed    []byte // the receipts, as encoded by attendeeCoder
}

// NewRoster returns a roster for a run, with at most most receipts. whole states that a report must
// contain all of them.
func NewRoster(partial, unordered, whole bool, most int) *Roster {
	return &Roster{Outcomes: true, tell: whole, most: most, of: Attendance{Partial: partial, Unordered: unordered}, numbers: map[string]int{}}
}

// Add adds an item that was placed. It returns false if there are too many receipts.
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

	// A merge may find that the link holds. The receipt then has the outcome that it would have
	// without the link.
	if link := it.Report.Check(receipt.StepLink); !it.foreign && !a.Spare && a.Outcome != it.Alone {
		a.Fault = &Fumble{Code: link.Code, own: it.Alone.Own, reason: it.Alone.Reason}
		a.Outcome = verified() // the fault contains the outcome
	}
	a.Before = it.Before && a.Alone().Own == receipt.Undecided

	in.Packed = r.coder.append(in.Packed, &a)
	return true
}

// outcomeOf returns the outcome of a judged item.
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

// Read adds a source from a report, or returns an error if it cannot be unpacked.
func (r *Roster) Read(in Attendance) error {
	list, err := in.unpack(len(r.Streams))

	// A roster without outcomes must not contain any outcome.
	told := func(a Attendee) bool { return a.Outcome != verified() }
	if err != nil || in.Unplaced < 0 || !r.Outcomes && slices.ContainsFunc(list, told) {
		return errRoster
	}
	r.Receipts += len(list)
	r.Sources = append(r.Sources, in)
	r.Whole = r.Receipts > MaxRoster
	return nil
}

// A tally contains counts of the receipts of a roster.
type tally struct {
	Contents int // different receipts
	Refuted  int // lower bound: receipts with invalid hashes or links
	Open     int // undecided because of their links
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

// add counts a receipt. An invalid hash refutes it, and so does an invalid link.
func (t *tally) add(a *Attendee) {
	// Without a fault, the link holds.
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
