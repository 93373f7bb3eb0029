package receipt

import (
	"bytes"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/schemas"
)

// TestVerifiedNeedsEveryStep verifies that a report with a missing, repeated, or misplaced step
// never has the verdict "verified".
func TestVerifiedNeedsEveryStep(t *testing.T) {
	v := &Verifier{schema: new(schemas.Schema)}
	var all []Check
	for _, s := range []Step{StepParse, StepSchema, StepHash, StepLink, StepBatch, StepSignatures, StepRedactions} {
		all = append(all, Check{Step: s, Status: StatusPassed})
	}
	verdict := func(checks []Check) Verdict {
		rep := &Report{Checks: checks}
		v.conclude(rep)
		return rep.Verdict
	}
	if got := verdict(slices.Clone(all)); got != Verified {
		t.Fatalf("seven steps passed: %v", got)
	}
	for i := range all {
		if v.shown(&Report{Checks: slices.Delete(slices.Clone(all), i, i+1)}) {
			t.Errorf("without %v: shown", all[i].Step)
		}
		if got := verdict(slices.Insert(slices.Clone(all), i, all[i])); got != Undecided {
			t.Errorf("%v twice: %v", all[i].Step, got)
		}
		if i > 0 {
			replaced := slices.Clone(all)
			replaced[i-1] = all[i]
			if got := verdict(replaced); got != Undecided {
				t.Errorf("%v in the place of %v: %v", all[i].Step, all[i-1].Step, got)
			}
		}
		swapped := slices.Clone(all)
		swapped[i], swapped[0] = swapped[0], swapped[i]
		if got := verdict(swapped); i > 0 && got != Undecided {
			t.Errorf("%v first: %v", all[i].Step, got)
		}
		failed := slices.Clone(all)
		failed[i].Status = StatusFailed
		if got := verdict(failed); got != Refuted {
			t.Errorf("%v failed: %v", all[i].Step, got)
		}
		unreached := slices.Clone(all)
		unreached[i] = Check{Step: all[i].Step, Status: StatusNotChecked, Code: CodeStepNotReached}
		if got := verdict(unreached); got != Undecided {
			t.Errorf("%v not reached: %v", all[i].Step, got)
		}
	}
	if got := verdict(nil); got != Undecided {
		t.Errorf("no steps: %v", got)
	}
}

// TestCloneHasItsOwnMemory verifies that a clone shares no memory with the original. This includes
// memory that does not appear in any form of a report.
func TestCloneHasItsOwnMemory(t *testing.T) {
	rep := &Report{tally: new(tally), scratch: make([]byte, 1)}
	if c := rep.Clone(); c.tally != nil || c.scratch != nil {
		t.Error("a clone shares memory")
	}
}

// TestScratchIsBounded verifies that a report keeps at most maxScratch bytes of memory for the next
// receipt.
func TestScratchIsBounded(t *testing.T) {
	rep := new(Report)
	for _, n := range []int{1 << 10, 4 << 20, 1 << 10} {
		if _, ok := decodeInline(rep, bytes.Repeat([]byte("AAAA"), n/3)); !ok || cap(rep.scratch) > maxScratch {
			t.Errorf("%d bytes: %t, %d kept", n, ok, cap(rep.scratch))
		}
	}
}
