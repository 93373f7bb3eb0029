package join_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// These values represent a predecessor that is not one of the earlier receipts.
const (
	first  = -1 - iota // none
	absent             // a receipt that is not in the input
	shared             // another absent receipt, which several receipts may name
)

// An item describes a receipt in a scope: its predecessor, its stream, and whether its ID equals
// the ID of the first item.
type item struct {
	previous, stream int
	repeats          bool
}

// sound is the specification: it reports whether the links of the receipts require the verdict
// verified. Each file lists the indexes of its receipts, in order. If selection is true,
// predecessors may be absent. If unordered is true, the order within files does not matter.
func sound(items []item, files [][]int, selection, unordered bool) bool {
	present, same := map[int]bool{}, 0
	for _, i := range slices.Concat(files...) {
		if !present[i] && (items[i].repeats || i == 0) {
			same++
		}
		present[i] = true
	}
	if same > 1 {
		return false // two receipts with the same ID have different content
	}

	followers, starts := map[[2]int]int{}, map[int]int{}
	for i := range present {
		it := items[i]
		before := [2]int{it.previous, 0}
		switch {
		case it.previous == first:
			before[1] = it.stream // each stream has only one first receipt
			starts[it.stream]++
		case it.previous == absent:
			before[1] = i
			starts[it.stream]++
		case it.previous == shared || !present[it.previous]:
			before[1] = it.stream // the stream of an absent receipt is unknown
			starts[it.stream]++
		case items[it.previous].stream != it.stream:
			return false // this link leads to another stream
		}
		if followers[before]++; followers[before] > 1 {
			return false // this is a fork or a second first receipt
		}
	}
	for _, n := range starts {
		if n > 1 && !selection {
			return false // something is missing
		}
	}
	return unordered || ordered(items, files)
}

// ordered reports whether each file is in order. A predecessor in the same file must come
// immediately before its successor, not counting other streams, and a first receipt must come
// before all others. The position of a receipt that occurs in several files does not matter.
func ordered(items []item, files [][]int) bool {
	for n, file := range files {
		others := slices.Concat(slices.Concat(files[:n]...), slices.Concat(files[n+1:]...))
		var own []int
		for _, i := range file {
			if !slices.Contains(others, i) && !slices.Contains(own, i) {
				own = append(own, i)
			}
		}
		last := map[int]int{}
		for _, i := range own {
			it := items[i]
			before, begun := last[it.stream]
			if it.previous == first && begun || slices.Contains(own, it.previous) && (!begun || before != it.previous) {
				return false
			}
			last[it.stream] = i
		}
	}
	return true
}

// A scope is a set of worlds. It covers all links between a number of receipts, all orders, with
// and without selection, and all ways to divide the receipts between two files. If the fields are
// set, it also covers all streams, repeated IDs, and copies of one receipt. The field "every" is
// the distance between the worlds that are tested; TestScope may increase it.
type scope struct {
	receipts        int
	streams, copies bool
	every           uint64
}

// A world is one input in a scope.
type world struct {
	items     []item
	files     [][]int
	selection bool
}

// digits represents the choices that lead to a world. The number of worlds is the product of the
// numbers of alternatives.
type digits struct{ left, number uint64 }

func (d *digits) pick(alternatives int, used bool) int {
	if !used {
		return 0
	}
	n := uint64(alternatives)
	digit := d.left % n
	d.left, d.number = d.left/n, d.number*n
	return int(digit)
}

// world returns the world with index n and the total number of worlds.
func (s scope) world(n uint64) (w world, number uint64) {
	d := &digits{n, 1}
	var order []int
	for i := range s.receipts {
		kinds := 2 // first and absent
		if s.streams {
			kinds = 3
		}
		previous := d.pick(i+kinds, true) - kinds
		w.items = append(w.items, item{previous, d.pick(2, s.streams && i > 0), d.pick(2, s.streams && i > 0) == 1})
		order = slices.Insert(order, d.pick(i+1, true), i)
	}
	if i, place := d.pick(s.receipts+1, s.copies), d.pick(s.receipts+1, s.copies); s.copies && i < s.receipts {
		order = slices.Insert(order, place, i)
	}
	w.selection = d.pick(2, true) == 1
	cut := d.pick(s.receipts+1, true)
	for _, file := range [][]int{order[:cut], order[cut:]} {
		if len(file) > 0 {
			w.files = append(w.files, file)
		}
	}
	return w, d.number
}

// torn reports whether receipts in two streams name the same absent receipt as their predecessor.
// One of these links is wrong, but a run may be unable to detect that before the receipt is
// available, so the specification does not define the result.
func (w world) torn() bool {
	streams := map[int]bool{}
	for _, it := range w.items {
		if it.previous == shared {
			streams[it.stream] = true
		}
	}
	return len(streams) > 1
}

// A press creates each receipt only once.
type press struct {
	t    *testing.T
	made map[string]*receipt.Sealed
}

// seal returns the receipt for items[i].
func (p *press) seal(items []item, i int) *receipt.Sealed {
	it := items[i]
	head := chain.Head{}
	switch it.previous {
	case first:
	case absent:
		head = chain.Head{Hash: canon.Sum(fmt.Append(nil, "absent ", i)), Count: 1}
	case shared:
		head = chain.Head{Hash: canon.Sum([]byte("shared")), Count: 1}
	default:
		head = p.seal(items, it.previous).Head()
	}
	id := fmt.Sprint("receipt_", i)
	if it.repeats {
		id = "receipt_0"
	}

	key := fmt.Sprint(i, id, it.stream, head.Hash)
	if p.made[key] == nil {
		at := receipt.At(time.Date(2026, 4, 25, 19, 0, i, 0, time.UTC))
		sealed, err := receipt.Seal(&receipt.Draft{
			ReceiptID:   id,
			Subject:     receipt.ResourceRef{Object: "task", ID: fmt.Sprint("task_", i)},
			Issuer:      receipt.Issuer{ID: "a", Kind: "harness"},
			IssuedAt:    at,
			Identifiers: receipt.Identifiers{WorkspaceRef: fmt.Sprint("w", it.stream), SessionID: "s", TaskID: "t"},
			Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: receipt.StateSucceeded},
			Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
			ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
			ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "p", Model: "m"}, RoutePolicyReason: "r"},
			Cost:        receipt.Cost{Currency: "USD"},
		}, head)
		if err != nil {
			p.t.Fatal(err)
		}
		p.made[key] = sealed
	}
	return p.made[key]
}

// texts returns the contents of the files in a world.
func (p *press) texts(w world) (texts [][]byte) {
	for _, file := range w.files {
		var b bytes.Buffer
		for _, i := range file {
			b.Write(p.seal(w.items, i).JSON())
			b.WriteByte('\n')
		}
		texts = append(texts, b.Bytes())
	}
	return texts
}

// sum verifies files in a single run.
func sum(t *testing.T, v *receipt.Verifier, o stream.Options, texts ...[]byte) *stream.Summary {
	var sources []stream.Source
	for i, text := range texts {
		source := sourceOf(fmt.Sprint(i), text)
		source.Kind = stream.Lines
		sources = append(sources, source)
	}
	run := stream.VerifyFiles(context.Background(), v, sources, o)
	for range run.Reports() {
	}
	s, err := run.Summary()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestScope compares verification, unordered verification, merges, and engines with the
// specification, for some worlds with a few receipts. To test 2.6 million worlds, which takes about 80
// minutes of processor time, use:
//
//	RECEIPT_SCOPE=all go test -run TestScope -timeout 2h ./internal/join
func TestScope(t *testing.T) {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	fewer := uint64(1_009)
	if os.Getenv("RECEIPT_SCOPE") == "all" {
		fewer = 1
	}
	var mu sync.Mutex
	seen, worlds := map[bool]int{}, 0
	t.Run("scopes", func(t *testing.T) {
		for _, s := range []scope{{1, true, true, 1}, {2, true, true, 1}, {3, true, true, 1}, {4, false, true, 1}, {4, true, true, 1009}, {5, false, false, 1}, {5, true, true, 500009}} {
			t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
				t.Parallel()
				found, tried, number := s.try(t, v, fewer)
				t.Logf("%d of %d worlds: %v", tried, number, found)
				mu.Lock()
				defer mu.Unlock()
				seen[true], seen[false], worlds = seen[true]+found[true], seen[false]+found[false], worlds+tried
			})
		}
	})
	t.Logf("%d worlds tried: %v", worlds, seen)
	if seen[true] < worlds/100 || seen[false] < worlds/100 {
		t.Error(seen)
	}
}

// try compares the verdicts for every world of a scope, or for fewer of them if there are many. It
// returns how many of the worlds are sound and how many are not, and how many there are.
func (s scope) try(t *testing.T, v *receipt.Verifier, fewer uint64) (found map[bool]int, tried int, number uint64) {
	found = map[bool]int{}
	p := &press{t, map[string]*receipt.Sealed{}}
	_, number = s.world(0)
	step := s.every
	if number > 1_000 {
		step *= fewer
	}
	for n := uint64(0); n < number; n += step {
		w, _ := s.world(n)
		if w.torn() {
			continue
		}
		found[compare(t, v, p, w)]++
		tried++
		if t.Failed() {
			t.Fatalf("world %d: %+v", n, w)
		}
	}
	return found, tried, number
}

// compare compares the verdicts for a world, and the numbers of receipts and copies, with the
// specification. It reports whether the files are sound.
func compare(t *testing.T, v *receipt.Verifier, p *press, w world) bool {
	texts := p.texts(w)
	o := stream.Options{Jobs: 1, Partial: w.selection}
	loose := o
	loose.Unordered = true
	whole := slices.Concat(w.files...)
	distinct := len(slices.Compact(slices.Sorted(slices.Values(whole))))
	check := func(how string, s *stream.Summary, want bool) {
		wrong := s.Receipts+s.Copies != len(whole) || s.Receipts < distinct || want && s.Receipts > distinct // refuted copies count
		if got := s.Verdict() == receipt.Verified; got != want || s.Verdict() == receipt.Undecided || wrong {
			t.Errorf("%s: %v with %d receipts and %d copies, expected %v", how, s.Verdict(), s.Receipts, s.Copies, want)
		}
	}

	files := sound(w.items, w.files, w.selection, false)
	free := sound(w.items, w.files, w.selection, true)
	check("one file", sum(t, v, o, bytes.Join(texts, nil)), sound(w.items, [][]int{whole}, w.selection, false))
	check("files", sum(t, v, o, texts...), files)
	check("unordered", sum(t, v, loose, texts...), free)
	e := &engine{t: t, dice: rand.New(rand.NewPCG(1, 1)), terms: join.Terms{Partial: func(chain.Stream) bool { return w.selection }}}
	check("engine", e.summary(v, texts, nil), free)
	if len(texts) == 2 {
		a, b := sum(t, v, o, texts[0]), sum(t, v, o, texts[1])
		for _, pair := range [][2]*stream.Summary{{a, b}, {b, a}} {
			m, err := pair[0].Merge(pair[1])
			if err != nil {
				t.Fatal(err)
			}
			check("merged", m, files)
		}
	}
	return files
}
