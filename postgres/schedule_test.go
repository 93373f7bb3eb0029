package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/postgres"
	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// slow delays transactions at random, both before receipts are inserted and at the commit, after
// their numbers have been assigned.
const slow = `
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF random() < 0.3 THEN PERFORM pg_sleep(random() * 0.004); END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER slow_stream BEFORE INSERT OR UPDATE ON ledger_streams FOR EACH ROW EXECUTE FUNCTION slow();
CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON ledger_receipts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow();`

// unordered assigns the numbers of receipts from a sequence, like a serial column.
const unordered = `
CREATE RULE no_lock AS ON UPDATE TO ledger DO INSTEAD NOTHING;
CREATE SEQUENCE numbers;
CREATE FUNCTION numbered() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.seq := nextval('numbers'); RETURN NEW; END $$;
CREATE TRIGGER number BEFORE INSERT ON ledger_receipts FOR EACH ROW EXECUTE FUNCTION numbered();`

// A published root was stated in a checkpoint.
type published struct {
	size uint64
	root merkle.Hash
}

// schedules runs n rounds in which receipts are issued concurrently in several streams with slow
// transactions. It returns how many roots were published in the meantime and how many of them no
// longer match the receipts that they covered.
func schedules(t *testing.T, address string, n int) (roots, changed int) {
	t.Helper()
	const writers = 4
	l := open(t, address)
	heads := make([]chain.Head, writers)
	var list []published
	for schedule := range n {
		var group sync.WaitGroup
		done := make(chan struct{})
		for w := range writers {
			// The receipts are sealed in advance, so that the transactions of all writers overlap.
			var run []*receipt.Sealed
			for i := range 1 + rand.N(3) {
				r, err := receipt.Seal(storetest.Draft(fmt.Sprintf("receipt_%d_%d_%d", schedule, w, i), fmt.Sprint("w", w)), heads[w])
				if err != nil {
					t.Fatal(err)
				}
				run, heads[w] = append(run, r), r.Head()
			}
			pause := rand.N(2 * time.Millisecond)
			group.Go(func() {
				time.Sleep(pause)
				previous := chain.Head{}
				if link, _ := chain.LinkOf(run[0].Document()); !link.First {
					previous.Hash = link.Previous
				}
				if err := l.Append(context.Background(), ledger.Run{Stream: run[0].Stream(), Previous: previous, Receipts: run}); err != nil {
					t.Error(err)
				}
			})
		}
		go func() {
			group.Wait()
			close(done)
		}()

		for running := true; running; {
			select {
			case <-done:
				running = false
			case <-time.After(rand.N(3 * time.Millisecond)):
			}
			list = append(list, publish(t, l))
		}
	}

	// Every published root must equal the root of a prefix of the final list.
	final := rootsOf(hashesOf(t, l))
	for _, p := range list {
		if p.root != final[p.size] {
			changed++
		}
	}
	return len(list), changed
}

func hashesOf(t *testing.T, l *postgres.Ledger) (list []canon.Digest) {
	t.Helper()
	for row, err := range l.Walk(t.Context(), ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, row.Hash)
	}
	return list
}

// publish returns the root stated in a checkpoint that covers all receipts.
func publish(t *testing.T, l *postgres.Ledger) published {
	t.Helper()
	tree := new(merkle.Tree)
	for _, hash := range hashesOf(t, l) {
		tree.Append(receipt.CheckpointLeaf(hash))
	}
	return published{tree.Size(), tree.Root()}
}

// rootsOf returns the roots of all prefixes of the receipt list.
func rootsOf(list []canon.Digest) []merkle.Hash {
	tree := new(merkle.Tree)
	roots := []merkle.Hash{tree.Root()}
	for _, hash := range list {
		tree.Append(receipt.CheckpointLeaf(hash))
		roots = append(roots, tree.Root())
	}
	return roots
}

// TestRootsStay verifies that a published root never changes, even if concurrent transactions take
// a long time to commit. As a control, the same schedules must change a root if the numbers are
// assigned from a sequence. CI runs a fraction of the schedules; to run 10,000, use
//
//	POSTGRES_SCHEDULES=10000 go test -run TestRootsStay -timeout 30m .
func TestRootsStay(t *testing.T) {
	const each = 25 // in one ledger
	ledgers := testsize.Of(4, 20)
	if text := os.Getenv("POSTGRES_SCHEDULES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < each {
			t.Fatalf("invalid POSTGRES_SCHEDULES %q: must be a number of at least %d", text, each)
		}
		ledgers = n / each
	}
	server := pgserver.Start(t)

	t.Run("sequence", func(t *testing.T) {
		address := create(t, server)
		if err := pgserver.Exec(address, slow+unordered); err != nil {
			t.Fatal(err)
		}
		if roots, changed := schedules(t, address, 25); changed == 0 {
			t.Errorf("none of %d published roots has changed, expected some", roots)
		}
	})

	var mu sync.Mutex
	total := 0
	t.Run("schedules", func(t *testing.T) {
		for i := range ledgers {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				address := create(t, server)
				if err := pgserver.Exec(address, slow); err != nil {
					t.Fatal(err)
				}
				roots, changed := schedules(t, address, each)
				if changed > 0 {
					t.Errorf("%d of %d published roots have changed", changed, roots)
				}
				mu.Lock()
				total += roots
				mu.Unlock()
			})
		}
	})
	t.Logf("%d schedules, %d roots published", ledgers*each, total)
}
