package receipt

import (
	"testing"

	"github.com/receiptkit/receiptkit/canon"
)

// TestOddNames verifies which names may contain a secret.
func TestOddNames(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, "12345678": false, "123456789": true, "abcdefghijklmnopqrstuvwxyz": false, "receipt_hash": false,
		"abcdefghA": true, "abcdefgh{": true, "abcdefgh`": true, "abcdefghé": true, "abcdefgh-": true,
	} {
		if got := odd(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
		if got := anyOdd("/cost/" + name + "/total"); got != want {
			t.Errorf("in a pointer, %q: %t", name, got)
		}
	}
}

// TestBareChecks verifies that a check with any content besides its status is not bare.
func TestBareChecks(t *testing.T) {
	if !(&Check{Step: StepHash, Status: StatusPassed}).bare() {
		t.Error("a status")
	}
	for i, c := range []Check{{Code: "a"}, {Pointer: "a"}, {Stated: "a"}, {Computed: "a"}, {Detail: "a"}, {Hint: "a"}, {Cause: "a"}, {Related: Place{Source: "a"}}} {
		if c.bare() {
			t.Errorf("%d: %+v", i, c)
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

// TestMaterialsNeedSchema verifies that materials are checked only if the receipt matches the
// schema.
func TestMaterialsNeedSchema(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"replay_input":{"materials":[{"bytes_base64":"?"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for holds, want := range map[bool]Status{false: StatusPassed, true: StatusFailed} {
		if c := weighMaterials(doc.Root(), nil, new(watched), holds, new(Report)); c.Status != want {
			t.Errorf("schema holds %t: %+v", holds, c)
		}
	}
}
