package survey

import "testing"

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
