package harness_test

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestClockGoesBack verifies that, if the clock is set back during a task, the receipt states no
// duration, and that the next task also has a receipt.
func TestClockGoesBack(t *testing.T) {
	o := options(t, t.TempDir())
	var asked atomic.Int64
	o.Now = func() time.Time { return time.Now().Add(-time.Duration(asked.Add(1)) * time.Minute) }
	_, c := start(t, o)
	c.begin()
	for range 2 {
		task := c.submit("backwards")
		c.reach(task, "COMPLETED")
		if r := c.receipt(task); !r.Lifecycle.CompletedAt.Before(r.Lifecycle.StartedAt.Time) || r.AutonomyBudget.Consumed.WallTimeMS != nil {
			t.Errorf("%+v, %+v", r.Lifecycle, r.AutonomyBudget.Consumed)
		}
	}
}
