package survey

import (
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// placed returns an item for a receipt whose hash, and the predecessor that it names, are those of
// two names. A receipt that names "" has no predecessor.
func placed(t *testing.T, line int, stream, name, previous string) *Item {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	hash := canon.Sum([]byte(name))
	it := &Item{Verifier: v}
	it.Index = line
	it.Facts = Facts{Placed: true, holds: true, Link: chain.Link{Hash: hash, First: previous == ""}, Computed: hash, ID: fingerprintOf(hash[:]),
		Key: streamKey(nil).appendStream(chain.Stream{Issuer: stream}), Issued: time.UnixMilli(int64(line))}
	if previous != "" {
		it.Facts.Link.Previous = canon.Sum([]byte(previous))
	}
	it.Report.Checks = []receipt.Check{{Step: receipt.StepLink, Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked}}
	it.Alone = verified()
	return it
}

// TestOrderLinks verifies the result for the link of the last of several lines.
func TestOrderLinks(t *testing.T) {
	type line struct{ stream, name, previous string }
	const damaged = "!" // the receipt does not match its stated hash
	unreadable := line{}
	for name, c := range map[string]struct {
		lines    []line
		terms    Terms
		status   receipt.Status
		cause    receipt.Cause
		failures int // of the stream of the last line
	}{
		"linked":                          {[]line{{"a", "1", ""}, {"a", "2", "1"}}, Terms{}, receipt.StatusPassed, "", 0},
		"missing":                         {[]line{{"a", "1", ""}, {"a", "3", "2"}}, Terms{}, receipt.StatusFailed, receipt.CausePredecessorOther, 1},
		"a document before the stream":    {[]line{unreadable, {"a", "1", ""}, {"a", "3", "2"}}, Terms{}, receipt.StatusFailed, receipt.CausePredecessorOther, 1},
		"a document between":              {[]line{{"a", "1", ""}, unreadable, {"a", "3", "2"}}, Terms{}, receipt.StatusNotChecked, receipt.CauseUnreadable, 0},
		"in another stream, and between":  {[]line{{"b", "2", ""}, {"a", "1", ""}, unreadable, {"a", "3", "2"}}, Terms{}, receipt.StatusFailed, receipt.CausePredecessorElsewhere, 1},
		"in another stream, and first":    {[]line{{"b", "2", ""}, {"a", "3", "2"}}, Terms{}, receipt.StatusFailed, receipt.CausePredecessorElsewhere, 0},
		"before a damaged receipt":        {[]line{{"a", "1", ""}, {"a", damaged, "1"}, {"a", "2", "1"}}, Terms{}, receipt.StatusPassed, "", 0},
		"a fork before a damaged receipt": {[]line{{"a", "1", ""}, {"a", damaged, "1"}, {"a", "2", "1"}, {"a", "3", "1"}}, Terms{}, receipt.StatusFailed, receipt.CausePredecessorShared, 1},
		"named by another stream":         {[]line{{"b", "3", "2"}, {"a", "1", ""}, {"a", "2", "1"}}, Terms{}, receipt.StatusPassed, "", 0},
		"damaged, and named earlier":      {[]line{{"a", "3", "damaged"}, {"a", damaged, "3"}}, Terms{}, receipt.StatusNotChecked, receipt.CauseOwnHash, 0},
		"missing, after a damaged one":    {[]line{{"a", "1", ""}, {"a", damaged, "1"}, {"a", "4", "3"}}, Terms{}, receipt.StatusFailed, receipt.CausePredecessorOther, 1},
		"a second first":                  {[]line{{"a", "1", ""}, {"a", "2", "1"}, {"a", "3", ""}}, Terms{}, receipt.StatusFailed, receipt.CauseSecondFirst, 1},
		"a late first":                    {[]line{{"a", "2", "1"}, {"a", "1", ""}}, Terms{}, receipt.StatusFailed, receipt.CauseComesEarlier, 1},
		"a first after another":           {[]line{{"a", "2", "1"}, {"a", "x", ""}, {"a", "y", ""}}, Terms{}, receipt.StatusFailed, receipt.CauseSecondFirst, 2},
		"a selection":                     {[]line{{"a", "1", ""}, {"a", "3", "2"}}, Terms{Partial: true}, receipt.StatusNotChecked, receipt.CauseSelection, 0},
		"a selection, named earlier":      {[]line{{"a", "1", ""}, {"a", "3", "2"}, {"a", "2", "1"}}, Terms{Partial: true}, receipt.StatusFailed, receipt.CauseComesEarlier, 1},
		"excused, but named earlier":      {[]line{{"a", "3", "2"}, unreadable, {"a", "2", "1"}}, Terms{}, receipt.StatusFailed, receipt.CauseNamedEarlier, 1},
	} {
		c.terms.Indexed, c.terms.Bounded = MaxIndexed, func(int, int) bool { return true }
		o := NewOrder(c.terms)
		var last *Item
		for i, l := range c.lines {
			it := placed(t, i+1, l.stream, l.name, l.previous)
			it.Facts.Placed = l != unreadable
			if it.Facts.holds = l.name != damaged; !it.Facts.holds {
				it.Facts.Computed = canon.Sum([]byte("damaged"))
			}
			if err := o.Place(it); err != nil {
				t.Fatal(name, err)
			}
			last = it
		}
		check := last.Report.Check(receipt.StepLink)
		if failures := o.streams[string(last.Facts.Key)].segment.Failures; check.Status != c.status || check.Cause != c.cause || int(failures) != c.failures {
			t.Errorf("%s: %v %v, %d failures", name, check.Status, check.Cause, failures)
		}
	}
}

// TestOrderGiven verifies that only a receipt that does not name the given predecessor is marked
// as such.
func TestOrderGiven(t *testing.T) {
	for name, c := range map[string]struct {
		given, previous string
		want            bool
	}{
		"named":             {"0", "0", false},
		"not named":         {"0", "x", true},
		"not given":         {"", "x", false},
		"in another stream": {"", "another", false},
	} {
		terms := Terms{Indexed: MaxIndexed, Bounded: func(int, int) bool { return true }}
		if c.given != "" {
			terms.After = map[chain.Stream]chain.Head{{Issuer: "a"}: {Hash: canon.Sum([]byte(c.given))}}
		}
		o := NewOrder(terms)
		it := placed(t, 2, "a", "1", c.previous)
		for _, it := range []*Item{placed(t, 1, "b", "another", ""), it} {
			if err := o.Place(it); err != nil {
				t.Fatal(name, err)
			}
		}
		if it.foreign != c.want {
			t.Errorf("%s: %v", name, it.foreign)
		}

		// A merge cannot determine that such a link is valid.
		if it.Report.Check(receipt.StepLink).Status != receipt.StatusFailed {
			continue
		}
		r := NewRoster(false, false, false, MaxRoster)
		r.Add(it)
		list, err := r.Sources[0].unpack(1)
		if err != nil || (list[0].Fault == nil) != c.want {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

// TestOrderMemory verifies that the memory for damaged and unreadable documents is limited, and that
// a skipped document is not unreadable.
func TestOrderMemory(t *testing.T) {
	o := NewOrder(Terms{})
	if err := o.Place(&Item{Other: "a key set"}); err != nil || len(o.gaps) != 0 {
		t.Errorf("%d unreadable documents, %v", len(o.gaps), err)
	}
	for range maxDamaged + 1 {
		if err := o.Place(&Item{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(o.gaps) != maxDamaged {
		t.Errorf("%d unreadable documents", len(o.gaps))
	}

	var hash canon.Digest
	for i := range maxDamaged {
		hash[0], hash[1], hash[2] = byte(i), byte(i>>8), byte(i>>16)
		o.damaged[hash] = i
	}
	if o.damage(placed(t, 1, "a", "1", "")); len(o.damaged) != maxDamaged {
		t.Errorf("%d damaged receipts", len(o.damaged))
	}
}

// TestSpareItems verifies that a copy is not counted unless it is refuted.
func TestSpareItems(t *testing.T) {
	for verdict, want := range map[receipt.Verdict]bool{receipt.Verified: true, receipt.Undecided: true, receipt.Refuted: false} {
		for _, isCopy := range []bool{false, true} {
			it := &Item{Copy: isCopy, Report: receipt.Report{Verdict: verdict}}
			if got := it.Spare(); got != (isCopy && want) {
				t.Errorf("%v, copy %v: %v", verdict, isCopy, got)
			}
		}
	}
}
