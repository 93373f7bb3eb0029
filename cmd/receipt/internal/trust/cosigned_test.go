package trust

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// TestClaimTogether verifies that, if several trees of the same size are cosigned at the same time,
// at most one of them is claimed, and that no other tree is claimed afterward.
func TestClaimTogether(t *testing.T) {
	for round := range 20 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(round))
		head := func(i int) *Head {
			return &Head{Signed: &tlog.Signed{Checkpoint: tlog.Checkpoint{Origin: "log", Size: 7, Root: merkle.LeafHash([]byte{byte(i)})}}}
		}

		var group sync.WaitGroup
		var claimed atomic.Int64
		var winner atomic.Int64
		for i := range 8 {
			group.Go(func() {
				if Claim(path, head(i)) == nil {
					claimed.Add(1)
					winner.Store(int64(i))
				}
			})
		}
		group.Wait()
		if claimed.Load() > 1 {
			t.Fatalf("%d trees of one size are claimed", claimed.Load())
		}
		for i := range 8 {
			if err := Claim(path, head(i)); (err == nil) != (claimed.Load() == 1 && int64(i) == winner.Load()) && claimed.Load() == 1 {
				t.Errorf("tree %d of which %d was claimed: %v", i, winner.Load(), err)
			}
		}
	}
}
