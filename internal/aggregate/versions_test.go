package aggregate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestVersions verifies that a receipt and its successor are counted once, in either order, and
// that receipts from another issuer and unconfirmed receipts remove nothing from the sums.
func TestVersions(t *testing.T) {
	of := func(issuer, supersedes string, verdict receipt.Verdict) seen {
		src := fmt.Appendf(nil, `{"issuer":{"id":%q},"lifecycle":{"completed_at":"2026-04-25T19:17:33Z"},"cost":{"currency":"USD","total":2.5},"metadata":{"supersedes":%q}}`, issuer, supersedes)
		doc, err := canon.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		s := entry(t, verdict, "2026-04-25T19:17:33Z", "USD", "2.5")
		s.rep.ReceiptHash, s.root = canon.Sum(src), doc.Root()
		return s
	}
	old := of("a", "", receipt.Verified)
	hash := old.rep.ReceiptHash.String()
	successor, stranger, forged := of("a", hash, receipt.Verified), of("b", hash, receipt.Verified), of("a", hash, receipt.Undecided)

	wants(t, aggregated(t, old, successor), `"verified":{"receipts":1,`, `"cost":{"USD":"2.5"}`, `"older":1`)
	wants(t, aggregated(t, successor, old), `"verified":{"receipts":1,`, `"cost":{"USD":"2.5"}`, `"older":1`)
	for _, list := range [][]seen{{old, stranger}, {stranger, old}} {
		wants(t, aggregated(t, list...), `"verified":{"receipts":2,`, `"cost":{"USD":"5"}`)
	}
	for _, list := range [][]seen{{old, forged}, {forged, old}} {
		wants(t, aggregated(t, list...), `"verified":{"receipts":1,`, `"other":{"receipts":1,`)
	}
}

// A told value is one receipt of a set; the tests add the receipts of a set in every possible
// order.
type told struct {
	seen
	issuer, supersedes string
}

// tell returns a receipt that contributes to every sum. Its costs, paths, models, and time are
// unique, so that any remainder in the sums is detected.
func tell(t *testing.T, i int, issuer, supersedes string) told {
	t.Helper()
	long := strings.Repeat("long", 200) // a name that is too long to be stored
	missing := `"/side_effects/a2a_handoffs"`
	if i%2 == 1 {
		missing = `"/lifecycle/completed_at","/cost/total","/cost/provider_breakdown/0/amount"`
	}
	src := fmt.Appendf(nil, `{"issuer":{"id":%q},"lifecycle":{"completed_at":"2026-04-%02dT19:17:33+02:00"},
"metadata":{"supersedes":%q,"unreported":[%s],"at_most":["/cost/total"],"estimated":["/cost"]},
"cost":{"currency":"C%d","total":0.%d7,"provider_breakdown":[{"provider":"p%d","model":"m","amount":1e-%d,"input_tokens":%d,"output_tokens":2},{"provider":"p","model":"n","amount":1},{"provider":"p","model":%q}]},
"approvals":[{"decision":"approved"},{"decision":"denied"},{"decision":"canceled"},{"decision":"timeout"}],
"side_effects":{"fs_writes":[{"path":"f%d"},{"path":"shared"},{"path":%q}],"network_egress":[{"bytes_sent":1%d},{}],"tool_calls":[{}],"a2a_handoffs":[{}]}}`,
		issuer, i+1, supersedes, missing, i, i, i, i, i, long, i, long, i)
	s := sound(t, src)
	return told{s, issuer, supersedes}
}

// unconfirmed returns a copy whose signature is not confirmed.
func (r told) unconfirmed() told {
	rep := *r.rep
	rep.Verdict = receipt.Undecided
	r.rep = &rep
	return r
}

func (r told) verified() bool { return r.rep.Verdict == receipt.Verified }

// newestOf returns the receipts in a set that no other receipt supersedes, without copies. It also
// returns the numbers of copies and of superseded receipts.
func newestOf(set []told) (newest []seen, copies, older int) {
	known := map[sighting]bool{}
	for _, r := range set {
		at := sighting{r.rep.ReceiptHash, r.verified()}
		switch {
		case known[at]:
			copies++
		case slices.ContainsFunc(set, func(by told) bool {
			return by.supersedes == at.hash.String() && by.issuer == r.issuer && (by.verified() || !at.verified)
		}):
			older++
		default:
			newest = append(newest, r.seen)
		}
		known[at] = true
	}
	return newest, copies, older
}

// sums returns the JSON form of an aggregate without the members that count receipts left out of
// the sums.
func sums(t *testing.T, text string) (sums map[string]any, copies, older float64) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &sums); err != nil {
		t.Fatal(err)
	}
	left := sums["left_out"].(map[string]any)
	copies = left["copies"].(float64)
	older, _ = left["older"].(float64)
	delete(left, "copies")
	delete(left, "older")
	delete(sums, "verdicts")
	return sums, copies, older
}

// TestVersionOrders verifies that the sums for a set equal the sums for its newest versions. It
// tests all orders of all small sets: chains, branches, copies, receipts from another issuer, and
// unconfirmed receipts.
func TestVersionOrders(t *testing.T) {
	a := tell(t, 0, "x", "")
	hash := func(r told) string { return r.rep.ReceiptHash.String() }
	b := tell(t, 1, "x", hash(a))
	c := tell(t, 2, "x", hash(b))
	pool := []told{a, b, c, a, tell(t, 3, "x", hash(a)), tell(t, 4, "y", hash(a)), tell(t, 5, "x", hash(c)).unconfirmed(), a.unconfirmed(), b.unconfirmed()}

	size := testsize.Of(4, 4, 5) // there are five times as many sets of up to five
	expected, sets := map[int]string{}, 0
	var add func(chosen int, set []told)
	add = func(chosen int, set []told) {
		if len(set) > 0 {
			sets++
			list := []seen{}
			for _, r := range set {
				list = append(list, r.seen)
			}
			newest, copies, older := newestOf(set)
			if expected[chosen] == "" {
				expected[chosen] = aggregated(t, newest...)
			}
			want, _, _ := sums(t, expected[chosen])
			got, gotCopies, gotOlder := sums(t, aggregated(t, list...))
			if !reflect.DeepEqual(got, want) || gotCopies != float64(copies) || gotOlder != float64(older) {
				t.Fatalf("set %b: %d copies and %d older versions:\n%v, %v, %v\nwant\n%v", chosen, copies, older, got, gotCopies, gotOlder, want)
			}
		}
		if len(set) == size {
			return
		}
		for i, r := range pool {
			if chosen&(1<<i) == 0 {
				add(chosen|1<<i, append(slices.Clip(set), r))
			}
		}
	}
	add(0, nil)
	if want := 9 + 9*8 + 9*8*7 + 9*8*7*6; sets < want {
		t.Errorf("%d sets, want %d", sets, want)
	}
}

// TestKept verifies that a version that cannot be subtracted remains in the sums, that its
// successors are omitted, and that the aggregate reports their number.
func TestKept(t *testing.T) {
	a := tell(t, 0, "x", "")
	b := tell(t, 1, "x", a.rep.ReceiptHash.String())
	c := tell(t, 2, "x", b.rep.ReceiptHash.String())
	var full Aggregate
	full.versions.kept = maxKept
	for _, r := range []told{a, b, c} {
		full.Add(r.rep, r.root)
	}
	text, err := json.Marshal(&full)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, string(text), `"verified":{"receipts":1,`, `"currencies":["C0"]`, `"newer":2`)

	// Subtracting a receipt frees space for other receipts.
	var room Aggregate
	room.Add(a.rep, a.root)
	before := room.versions.kept
	room.Add(b.rep, b.root)
	room.Add(c.rep, c.root)
	if before == 0 || room.versions.kept > before+before/2 {
		t.Errorf("%d bytes are kept of one receipt, and %d of one with two older versions", before, room.versions.kept)
	}
}
