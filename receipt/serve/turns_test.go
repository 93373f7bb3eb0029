package serve

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestTurns verifies that clients are served in turn, regardless of how many requests each client
// sends.
func TestTurns(t *testing.T) {
	turns := newTurns(10)
	done, err := turns.take(t.Context(), "first", 100) // the largest request uses all slots
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []string
	var wg sync.WaitGroup
	asked := 0
	ask := func(client string, size int64) {
		asked++
		wg.Go(func() {
			done, err := turns.take(t.Context(), client, size)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, client)
			mu.Unlock()
			done()
		})
		for before := time.Now(); time.Since(before) < time.Minute; time.Sleep(time.Millisecond) {
			turns.mu.Lock()
			n := 0
			for _, q := range turns.waiting {
				n += len(q.turns)
			}
			turns.mu.Unlock()
			if n == asked {
				return
			}
		}
		t.Fatal("no request waits")
	}
	for range 5 {
		ask("many", 10)
	}
	ask("other", 10)
	ask("third", 10)
	done()
	wg.Wait()
	if want := []string{"many", "other", "third", "many", "many", "many", "many"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	if turns.left != 10 || len(turns.waiting) != 0 {
		t.Errorf("%d left, %d wait", turns.left, len(turns.waiting))
	}
}

// TestTurnsGivenUp verifies that a canceled waiter gives up its turn and does not delay other
// waiters.
func TestTurnsGivenUp(t *testing.T) {
	turns := newTurns(2)
	one, err := turns.take(t.Context(), "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	small := make(chan func(), 1)
	go func() {
		<-time.After(time.Millisecond)
		done, _ := turns.take(t.Context(), "c", 1)
		small <- done
	}()
	if _, err := turns.take(ctx, "b", 2); err == nil {
		t.Error("a turn that there is not enough for")
	}
	select {
	case done := <-small:
		done()
	case <-time.After(time.Minute):
		t.Fatal("the next request still waits")
	}
	one()
	if turns.left != 2 || len(turns.waiting) != 0 {
		t.Errorf("%d left, %d wait", turns.left, len(turns.waiting))
	}
}
