package fair

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestShares: however much some clients take, one that has nothing finds as much as any
// of them holds.
func TestShares(t *testing.T) {
	for _, all := range []int64{1, 2, 3, 8, 256} {
		for clients := 1; clients <= 12; clients++ {
			s := NewShares(all)
			most := int64(0)
			for more := true; more; {
				more = false
				for i := range clients {
					more = s.Take(fmt.Sprint(i), 1) || more
				}
			}
			for _, n := range s.held {
				most = max(most, n)
			}
			if clients < int(all) && s.left < min(most, 1) || most > 1 && s.left < most-1 {
				t.Errorf("%d among %d: %v, %d left", all, clients, s.held, s.left)
			}
			for client, n := range s.held {
				s.Give(client, n)
			}
			if s.left != all || len(s.held) != 0 {
				t.Errorf("not all was given back: %d of %d, %v", s.left, all, s.held)
			}
		}
	}
	s := NewShares(100)
	if !s.Take("a", 100) || s.Take("b", 1) || s.Any() {
		t.Error("who holds nothing may take all that is left, and not more")
	}
}

// TestTurns: clients take turns, whoever has asked more often.
func TestTurns(t *testing.T) {
	turns := NewTurns(10)
	done, err := turns.Take(t.Context(), "first", 100) // the largest takes all
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
			done, err := turns.Take(t.Context(), client, size)
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
		t.Fatal("nobody waits")
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

// TestTurnsGivenUp: who goes away leaves no turn behind, and holds nobody up.
func TestTurnsGivenUp(t *testing.T) {
	turns := NewTurns(2)
	one, err := turns.Take(t.Context(), "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	small := make(chan func(), 1)
	go func() {
		<-time.After(time.Millisecond)
		done, _ := turns.Take(t.Context(), "c", 1)
		small <- done
	}()
	if _, err := turns.Take(ctx, "b", 2); err == nil {
		t.Error("a turn that there is not enough for")
	}
	select {
	case done := <-small:
		done()
	case <-time.After(time.Minute):
		t.Fatal("the one behind still waits")
	}
	one()
	if turns.left != 2 || len(turns.waiting) != 0 {
		t.Errorf("%d left, %d wait", turns.left, len(turns.waiting))
	}
}
