package memory_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/memory"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// A history is one order of the calls from several processes to one store, including crashes. Time
// is virtual, so only the choices determine the history.
type history struct {
	*testing.T
	store   memory.Ledger
	choose  func(alternatives int) int
	crashes int // number of crashes that are still allowed

	full   bool    // a client reads the store through a server, and a crash can lose the position of a process
	client *client // nil unless full is set

	mu      sync.Mutex
	pending map[int]*call // by process
	left    int           // number of processes that have not ended
	seen    map[string]int
	hashes  map[string]canon.Digest // hashes of acknowledged receipts, indexed by ID
}

// A call represents a call by a process. It waits until the history lets it run.
type call struct {
	name string
	run  func() error
	fate chan fate
}

type fate int

const (
	runs       fate = iota
	diesBefore      // the process ends before the call
	diesAfter       // the process ends after the call, but before it receives the result
	fates
)

var errCrash = errors.New("the process ended")

// A process is a Store whose calls are made by a single simulated process. After a crash, all calls
// by the process fail.
type process struct {
	*history
	number  int
	crashed bool
}

func (p *process) call(name string, run func() error) error {
	if p.crashed {
		return errCrash
	}
	c := &call{name, run, make(chan fate)}
	p.mu.Lock()
	p.pending[p.number] = c
	p.mu.Unlock()
	switch <-c.fate {
	case diesBefore:
		p.crashed = true
		return errCrash
	case diesAfter:
		p.crashed = true
		if run() == nil && name == "append" {
			p.sees("died after an append")
		}
		return errCrash
	}
	err := run()
	if errors.Is(err, ledger.ErrHeadMoved) {
		p.sees("head moved")
	}
	return err
}

func (p *process) Head(ctx context.Context, s chain.Stream) (head chain.Head, err error) {
	err = p.call("head", func() (err error) { head, err = p.store.Head(ctx, s); return err })
	return head, err
}

func (p *process) Find(ctx context.Context, k ledger.Key) (row *ledger.Row, err error) {
	err = p.call("find", func() (err error) { row, err = p.store.Find(ctx, k); return err })
	return row, err
}

func (p *process) Append(ctx context.Context, runs ...ledger.Run) error {
	return p.call("append", func() error { return p.store.Append(ctx, runs...) })
}

func (h *history) sees(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen[what]++
}

// issue runs a process that issues drafts one after another, and repeats each draft until it is
// acknowledged. After a crash, the process is started again. In a full history, it may have lost its
// position, like a recorder whose file was not synced, and then starts at an earlier draft.
func (h *history) issue(number int, ids []string) {
	p := &process{history: h, number: number}
	issuer := &ledger.Issuer{Store: p, Unsigned: true, KeepSecrets: true}
	for at := 0; at < len(ids); {
		draft := storetest.Draft(ids[at], "w")
		draft.Identifiers.TaskID = allTask
		sealed, err := issuer.Issue(context.Background(), draft)
		switch {
		case err == nil:
			h.acknowledge(ids[at], sealed)
			at++
		case !p.crashed:
			h.Errorf("%s: %v", ids[at], err)
			at++
		default:
			p = &process{history: h, number: number}
			issuer = &ledger.Issuer{Store: p, Unsigned: true, KeepSecrets: true}
			if h.full && at > 0 {
				if lost := h.choose(at + 1); lost > 0 {
					at -= lost
					h.sees("lost position")
				}
			}
		}
	}
	h.mu.Lock()
	h.left--
	h.mu.Unlock()
}

func (h *history) acknowledge(id string, sealed *receipt.Sealed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, again := h.hashes[id]; again {
		h.seen["acknowledged twice"]++
		if known != sealed.Hash() {
			h.Errorf("%s has two receipts", id)
		}
	}
	h.hashes[id] = sealed.Hash()
	if h.client != nil {
		h.client.find(id, sealed.Hash())
	}
}

// read lets the client read one page, after the server may have been started again.
func (h *history) read() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.choose(8) == 0 {
		h.client.start()
		h.seen["server started again"]++
	}
	before := len(h.client.last)
	if h.client.read(h.hashes) && before > 0 && len(h.client.last) > before {
		h.seen["list grew"]++
	}
	if len(h.client.list) > 0 && len(h.hashes) > len(h.client.known) {
		h.seen["issued between pages"]++
	}
}

// run starts one process per list of drafts. Each process issues the drafts in its list. At each
// step, either a process performs one call, or it ends before or after the call, or the client reads
// a page.
func (h *history) run(lists ...[]string) {
	h.pending, h.hashes, h.left = map[int]*call{}, map[string]canon.Digest{}, len(lists)
	synctest.Test(h.T, func(t *testing.T) {
		if h.full {
			h.client = &client{T: h.T, store: &h.store}
			h.client.start()
		}
		for number, ids := range lists {
			go h.issue(number, ids)
		}
		for h.ready() {
			h.mu.Lock()
			processes := slices.Sorted(maps.Keys(h.pending))
			h.mu.Unlock()
			alternatives := len(processes)
			if h.crashes > 0 {
				alternatives *= int(fates)
			}
			if h.full {
				alternatives++
			}
			choice := h.choose(alternatives)
			if h.full && choice == alternatives-1 {
				h.read()
				continue
			}
			number, f := processes[choice%len(processes)], fate(choice/len(processes))
			if f != runs {
				h.crashes--
				h.sees("crash")
			}
			h.mu.Lock()
			c := h.pending[number]
			delete(h.pending, number)
			h.mu.Unlock()
			c.fate <- f
		}
	})
	h.check(lists)
}

// ready waits until each process has ended or has a pending call, and reports whether any call is
// pending.
func (h *history) ready() bool {
	for {
		synctest.Wait()
		h.mu.Lock()
		waiting, left := len(h.pending), h.left
		h.mu.Unlock()
		if waiting == left {
			return left > 0
		}
		time.Sleep(time.Millisecond) // the process pauses before its next attempt
	}
}

// check verifies that the ledger is intact and contains each draft once, with the acknowledged
// hash.
func (h *history) check(lists [][]string) {
	ids := slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
	v, err := receipt.NewVerifier(new(keys.Set), receipt.Policy{IntegrityOnly: true})
	if err != nil {
		h.Fatal(err)
	}
	found, err := ledger.Check(h.Context(), &h.store, v, func(f ledger.Fault) { h.Errorf("%+v", f) }, nil)
	if err != nil || found.Verified != len(ids) {
		h.Errorf("%d receipts, expected %d: %v", found.Verified, len(ids), err)
	}
	for _, id := range ids {
		if sealed, err := ledger.Get(h.Context(), &h.store, id); err != nil || sealed.Hash() != h.hashes[id] {
			h.Errorf("%s was acknowledged, and is not stored: %v", id, err)
		}
	}
}

// TestHistories tries all orders of calls by two processes, with at most one crash before or after
// any of the calls. One process issues both drafts, and the other process issues one of them again.
func TestHistories(t *testing.T) {
	seen := map[string]int{}
	var path, width []int // the choices in a history, and the number of alternatives for each
	n := 0
	for ; ; n++ {
		at := 0
		choose := func(alternatives int) int {
			if at == len(path) {
				path, width = append(path, 0), append(width, alternatives)
			}
			width[at] = alternatives
			at++
			return path[at-1]
		}
		h := &history{T: t, choose: choose, crashes: 1, seen: seen}
		h.run([]string{"a", "b"}, []string{"b"})
		if t.Failed() {
			t.Fatalf("choices %v", path)
		}
		for len(path) > 0 && path[len(path)-1] == width[len(path)-1]-1 {
			path, width = path[:len(path)-1], width[:len(path)-1]
		}
		if len(path) == 0 {
			break
		}
		path[len(path)-1]++
	}
	t.Logf("%d histories: %v", n+1, seen)
	for _, what := range []string{"head moved", "crash", "died after an append", "acknowledged twice"} {
		if seen[what] == 0 {
			t.Errorf("no history has: %s", what)
		}
	}
}

// TestSimulation tries random histories with up to four processes, four drafts per process, and
// four crashes. A client reads the receipts from a server. Each seed determines one history.
// RECEIPT_SEEDS=SEED repeats a single history, for example after a failure.
// RECEIPT_SEEDS=FIRST-LAST selects a range:
//
//	RECEIPT_SEEDS=1-1000000 go test -run TestSimulation -timeout 3h ./receipt/ledger/memory
func TestSimulation(t *testing.T) {
	first, last := 1, 300
	if testsize.Full() {
		last = 1000
	}
	if text := os.Getenv("RECEIPT_SEEDS"); text != "" {
		from, to, several := strings.Cut(text, "-")
		if first, last = number(t, from), number(t, from); several {
			last = number(t, to)
		}
	}
	seen := map[string]int{}
	for seed := first; seed <= last; seed++ {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		var lists [][]string
		for range 1 + r.IntN(4) {
			var ids []string
			for range 1 + r.IntN(4) {
				ids = append(ids, fmt.Sprint("draft_", r.IntN(6)))
			}
			lists = append(lists, ids)
		}
		h := &history{T: t, choose: r.IntN, crashes: r.IntN(5), seen: seen, full: true}
		if h.run(lists...); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d histories: %v", last-first+1, seen)
	for _, what := range []string{"head moved", "crash", "died after an append", "acknowledged twice", "lost position", "list grew", "issued between pages", "server started again"} {
		if last-first > 100 && seen[what] == 0 {
			t.Errorf("no history has: %s", what)
		}
	}
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
