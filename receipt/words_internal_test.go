package receipt

import (
	"testing"
)

// TestGapHint verifies that the hint about a gap names the last receipt before it, if it is known.
func TestGapHint(t *testing.T) {
	for want, c := range map[string]Check{
		"the receipts up to a:3 are connected": {Cause: CausePredecessorMissing, Related: Place{Source: "a", Index: 3}},
		"":                                     {Cause: CausePredecessorMissing},
	} {
		if c.word(); c.Hint != want {
			t.Errorf("%q, expected %q", c.Hint, want)
		}
	}
	other := Check{Cause: CausePredecessorOther, Related: Place{Source: "a", Index: 3}}
	if other.word(); other.Hint != "" {
		t.Errorf("another cause: %q", other.Hint)
	}
}

// TestRoleList verifies that a key without roles is described as an issuer key.
func TestRoleList(t *testing.T) {
	for want, roles := range map[string][]Role{"issuer": nil, "witness": {RoleWitness}, "witness, checkpoint": {RoleWitness, RoleCheckpoint}} {
		if got := roleList(roles); got != want {
			t.Errorf("%v: %s", roles, got)
		}
	}
}

// TestLinkWords verifies how a faulty link is described.
func TestLinkWords(t *testing.T) {
	place := Place{Source: "a", Index: 3}
	for want, c := range map[string]Check{
		"names X, which no receipt in the input has":          {Stated: "X", Cause: CausePredecessorMissing},
		"names X, a:3 is Y":                                   {Stated: "X", Computed: "Y", Cause: CausePredecessorOther, Related: place},
		"names X, which a:3 names too":                        {Stated: "X", Cause: CausePredecessorShared, Related: place},
		"states that nothing precedes it, a:3 is Y":           {Stated: "null", Computed: "Y", Cause: CauseSecondFirst, Related: place},
		"states that nothing precedes it, and so does a:3":    {Stated: "null", Cause: CauseSecondFirst, Related: place},
		"a:3, which comes before it, names it":                {Stated: "X", Cause: CauseNamedEarlier, Related: place},
		"a:3 has the same receipt_id, but another content":    {Stated: "X", Cause: CauseIDTaken, Related: place},
		"names X, the predecessor given is Y":                 {Stated: "X", Computed: "Y", Cause: CausePredecessorNotGiven},
		"names X, and a:3 comes before it in the same file":   {Stated: "X", Cause: CauseComesEarlier, Related: place},
		"names X, which a:3 has, a receipt of another stream": {Stated: "X", Cause: CausePredecessorElsewhere, Related: place},
		"names X, which follows it, in a:3":                   {Stated: "X", Cause: CausePredecessorLater, Related: place},
	} {
		c.Step, c.Status = StepLink, StatusFailed
		if c.word(); c.Detail != want {
			t.Errorf("%s: %s, expected %s", c.Cause, c.Detail, want)
		}
	}
}

// TestNotCounted verifies that at most five reasons are listed, and that the others are counted.
func TestNotCounted(t *testing.T) {
	why := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n, want := range map[int]string{0: "", 1: "; not counted: a", 5: "; not counted: a; b; c; d; e", 6: "; not counted: a; b; c; d; e; and 1 more"} {
		if got := notCounted(why[:n]); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
