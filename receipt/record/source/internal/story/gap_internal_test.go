package story

import "testing"

// TestGaps verifies that every cause affects the receipt, and that different causes are counted
// under different names.
func TestGaps(t *testing.T) {
	names := map[string]Gap{}
	for g := PartMissing; g <= TotalsDiffer; g++ {
		lack := gaps()[g]
		if !lack.all && len(lack.atLeast)+len(lack.untold) == 0 {
			t.Errorf("cause %d leaves nothing open", g)
		}
		if other, have := names[lack.counted]; have && lack.counted != "" {
			t.Errorf("causes %d and %d are both counted as %q", other, g, lack.counted)
		}
		names[lack.counted] = g
	}
	if len(gaps()) != int(TotalsDiffer)+1 {
		t.Errorf("%d causes in the table", len(gaps()))
	}
}
