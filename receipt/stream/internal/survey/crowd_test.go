package survey

import (
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestCrowdOfSome verifies that a crowd has the outcomes of its receipts only if all rosters have
// them, and that it is reported in full if one of the rosters is.
func TestCrowdOfSome(t *testing.T) {
	for _, c := range []struct {
		a, b            Roster
		outcomes, whole bool
	}{
		{Roster{Outcomes: true}, Roster{Outcomes: true}, true, false},
		{Roster{Outcomes: true, Whole: true}, Roster{}, false, true},
		{Roster{Whole: true}, Roster{Outcomes: true}, false, true},
		{Roster{}, Roster{Whole: true, Outcomes: true}, false, true},
		{Roster{Whole: true}, Roster{Whole: true}, false, true},
	} {
		got, err := CrowdOf(&c.a, &c.b)
		if err != nil || got.Outcomes != c.outcomes || got.whole != c.whole {
			t.Errorf("%+v, %+v: %+v, %v", c.a, c.b, got, err)
		}
		if r := got.Pack(); r.Outcomes != c.outcomes || r.Whole != c.whole {
			t.Errorf("%+v, %+v: packed as %+v", c.a, c.b, r)
		}
	}
}

// rosterOf returns a roster of one source with receipts from one stream.
func rosterOf(outcomes bool, list ...Attendee) *Roster {
	r := &Roster{Streams: []chain.Stream{{Issuer: "a"}}, Outcomes: outcomes, Receipts: len(list)}
	r.coder.begin(1)
	in := Attendance{}
	for i := range list {
		in.Packed = r.coder.append(in.Packed, &list[i])
	}
	r.Sources = []Attendance{in}
	return r
}

// TestShared verifies that copies within a roster are not shared between rosters.
func TestShared(t *testing.T) {
	hash := canon.Sum([]byte("a"))
	one := Attendee{computed: hash, link: chain.Link{First: true, Hash: hash}, Outcome: verified()}
	again := one
	again.again = true
	for name, c := range map[string]struct {
		rosters []*Roster
		want    int
	}{
		"one":                 {[]*Roster{rosterOf(false, one)}, 0},
		"a copy in a roster":  {[]*Roster{rosterOf(false, one, again)}, 0},
		"two rosters":         {[]*Roster{rosterOf(false, one), rosterOf(false, one)}, 1},
		"a copy, two rosters": {[]*Roster{rosterOf(false, one, again), rosterOf(false, one)}, 1},
	} {
		crowd, err := CrowdOf(c.rosters...)
		if err != nil {
			t.Fatal(name, err)
		}
		v, err := crowd.Survey()
		if err != nil {
			t.Fatal(name, err)
		}
		if got := crowd.Shared(v); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSpares verifies that a copy is counted if its outcome differs from those of earlier copies.
func TestSpares(t *testing.T) {
	hash := canon.Sum([]byte("a"))
	good := Attendee{computed: hash, link: chain.Link{First: true, Hash: hash}, Outcome: verified()}
	undecided := good
	undecided.Outcome = Outcome{Own: receipt.Undecided, Reason: receipt.CodeBatchNotChecked}
	for name, c := range map[string]struct {
		other Attendee
		want  int
	}{"equal": {good, 1}, "different": {undecided, 0}} {
		crowd, err := CrowdOf(rosterOf(true, good), rosterOf(true, c.other))
		if err != nil {
			t.Fatal(name, err)
		}
		v, err := crowd.Survey()
		if err != nil {
			t.Fatal(name, err)
		}
		if got := crowd.Spares(v); len(got) != c.want {
			t.Errorf("%s: %d receipts are not counted", name, len(got))
		}
	}
}

// TestCrowdWithoutOutcomes verifies that a crowd without outcomes keeps only what the faults of its
// receipts say.
func TestCrowdWithoutOutcomes(t *testing.T) {
	hash := canon.Sum([]byte("a"))
	plain := Attendee{computed: hash, link: chain.Link{First: true, Hash: hash}, Before: true, Outcome: Outcome{Own: receipt.Undecided, Reason: receipt.CodeBatchNotChecked}}
	broken := plain
	broken.Outcome, broken.Fault = verified(), &Fumble{Code: receipt.CodeChainBreak, own: receipt.Undecided, reason: receipt.CodeBatchNotChecked}
	later := broken
	later.Before = false
	for name, c := range map[string]struct {
		a    Attendee
		want bool
	}{"plain": {plain, false}, "broken": {broken, true}, "broken, undecided later": {later, false}} {
		crowd, err := CrowdOf(rosterOf(true, c.a), &Roster{})
		if err != nil {
			t.Fatal(name, err)
		}
		if got := crowd.sources[0].list[0]; got.Before != c.want || got.Outcome != verified() {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
