package receipt_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/mutate"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestMutants verifies that the fast path, the plain path, and the canonical form result in the
// same report for mutants of valid receipts.
//
// MUTANTS=1000000 sets the number of mutants, and MUTANTS_SEED=7 selects a different series. A
// failing mutant is identified by its seed and number, which are sufficient to reproduce it,
// regardless of the total number of mutants.
func TestMutants(t *testing.T) {
	count, seed := numberOf(t, "MUTANTS", testsize.Of(500, 20_000, 100_000)), numberOf(t, "MUTANTS_SEED", 1)
	f, list := newForger(t), judgments(t)
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	workers := runtime.GOMAXPROCS(0)
	seen := make([]census, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			c := comparer{tb: t, forger: f, seen: census{}}
			for i := w; i < count && !t.Failed(); i += workers {
				choices := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
				j := judged(choices, list)
				c.compare(fmt.Sprintf("mutant %d of seed %d, policy %s", i, seed, j.name), j, f.mutant(choices))
			}
			seen[w] = c.seen
		})
	}
	all.Wait()
	for _, other := range seen[1:] {
		for what, n := range other {
			seen[0][what] += n
		}
	}
	if !t.Failed() {
		seen[0].check(t, count)
	}
}

func numberOf(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: expected a number from 1", name, text)
	}
	return n
}

// FuzzMutants is like TestMutants, but the fuzzer's bytes determine the choices.
func FuzzMutants(f *testing.F) {
	forger, list := newForger(f), judgments(f)
	for seed := range uint64(40) {
		r, choices := rand.New(rand.NewPCG(seed, 0)), make([]byte, 40)
		for i := range choices {
			choices[i] = byte(r.Uint32())
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		from := &mutate.Bytes{Left: choices}
		c := comparer{tb: t, forger: forger, seen: census{}}
		j := judged(from, list)
		c.compare("policy "+j.name, j, forger.mutant(from))
	})
}

// A comparer reuses the same documents and reports for all judgments, as a stream does.
type comparer struct {
	tb                       testing.TB
	forger                   *forger
	seen                     census
	doc, plainDoc, canonical canon.Document
	fast, plain, again       receipt.Report
	text                     []byte
}

func (c *comparer) compare(name string, j judgment, m mutant) {
	j.fast.VerifyBytes(m.text, &c.doc, &c.fast)
	j.plain.VerifyBytes(m.text, &c.plainDoc, &c.plain)
	if what := differs(&c.fast, &c.plain); what != "" {
		c.complain(name, m, what+" of the plain path differs", &c.plain)
	}
	if c.fast.Verdict == receipt.Verified {
		if why := c.forger.allows(m, j.policy.IntegrityOnly); why != "" {
			c.complain(name, m, "verified, but "+why, &c.plain)
		}
	}
	if m.holds && c.fast.Check(receipt.StepHash).Status != receipt.StatusPassed {
		c.complain(name, m, "only spelled in another way, but the hash does not hold", &c.plain)
	}
	c.seen.count(&c.fast)
	if c.canonical.Parse(m.text, canon.Limits{}) != nil {
		return
	}
	if len(m.text)%4 == 0 && c.canonical.Depth() <= receipt.MaxDepth { // the document was parsed earlier, with other limits
		j.fast.Verify(&c.canonical, &c.again)
		if what := differsInOrder(&c.fast, &c.again); what != "" {
			c.complain(name, m, what+" of the parsed document differs", &c.again)
		}
	}
	c.text = c.canonical.AppendCanonical(c.text[:0])
	j.fast.VerifyBytes(c.text, &c.plainDoc, &c.again)
	if what := differsInOrder(&c.fast, &c.again); what != "" {
		c.complain(name, m, what+" of the canonical form differs", &c.again)
	}
}

func (c *comparer) complain(name string, m mutant, what string, other *receipt.Report) {
	c.tb.Errorf("%s: %s\n%.5000q\nthe fast path: %s\notherwise: %s", name, what, m.text, describe(&c.fast), describe(other))
}

// differs describes the differences between two reports on the same bytes.
func differs(a, b *receipt.Report) string {
	switch {
	case a.Verdict != b.Verdict:
		return "the verdict"
	case !slices.Equal(a.Checks, b.Checks):
		return "a check"
	case !slices.Equal(a.Signatures, b.Signatures):
		return "a signature"
	case !slices.Equal(a.NotChecked, b.NotChecked):
		return "what was not checked"
	case !slices.Equal(a.Warnings, b.Warnings):
		return "a warning"
	case a.ReceiptHash != b.ReceiptHash:
		return "the hash"
	case !bytes.Equal(a.ReceiptID, b.ReceiptID) || a.InputSHA256 != b.InputSHA256 || !a.At.Equal(b.At.Time) || a.Scope != b.Scope:
		return "the head"
	}
	return ""
}

// differsInOrder is like differs, but compares reports on two spellings of the same value. The
// order of members determines which lossy number is found first, and which of several excessively
// nested values is found first.
func differsInOrder(a, b *receipt.Report) string {
	if a.Verdict != b.Verdict || a.ReceiptHash != b.ReceiptHash || !bytes.Equal(a.ReceiptID, b.ReceiptID) {
		return "the verdict, hash or id"
	}
	if !slices.Equal(places(a), places(b)) {
		return "a code"
	}
	return ""
}

// places returns the codes in a report with their pointers, in order.
func places(rep *receipt.Report) []string {
	var list []string
	add := func(what any, code receipt.Code, pointer string) {
		if code == receipt.CodeNumberPrecision || code == receipt.CodeDepthLimit {
			pointer = ""
		}
		list = append(list, fmt.Sprint(what, " ", code, " ", pointer))
	}
	for _, c := range rep.Checks {
		add(c.Step.String()+c.Status.String(), c.Code, c.Pointer)
	}
	for _, s := range rep.Signatures {
		add(s.Status, s.Code, s.KeyID)
	}
	for _, n := range slices.Concat(rep.NotChecked, rep.Warnings) {
		add("note", n.Code, n.Pointer)
	}
	slices.Sort(list)
	return list
}

// A census counts the results for the mutants: verdicts, failed steps, and codes.
type census map[string]int

func (s census) count(rep *receipt.Report) {
	s[rep.Verdict.String()]++
	found := map[string]bool{}
	for _, c := range rep.Checks {
		if c.Status == receipt.StatusFailed {
			found["step "+c.Step.String()] = true
		}
		found[string(c.Code)] = true
	}
	for _, e := range rep.Signatures {
		found[string(e.Code)] = true
	}
	for _, w := range rep.Warnings {
		found[string(w.Code)] = true
	}
	delete(found, "")
	for what := range found {
		s[what]++
	}
}

// check fails unless the mutants led to a wide range of results, because a mutator that no longer
// works would also show no differences.
func (s census) check(t *testing.T, count int) {
	t.Helper()
	for what, least := range commonness() {
		if s[what] < count*least/100_000 {
			t.Errorf("%d of %d mutants lead to %s, expected %d of 100,000", s[what], count, what, least)
		}
	}
	for _, what := range slices.SortedFunc(maps.Keys(s), func(a, b string) int { return cmp.Compare(s[b], s[a]) }) {
		t.Logf("%7d %s", s[what], what)
	}
}

// commonness returns the minimum number of mutants per 100,000 that must have the given verdict,
// failed step, or code. Each minimum is about a quarter of the actual number, and is higher for
// results that must not become rare.
func commonness() map[string]int {
	return map[string]int{
		"verified": 7000, "refuted": 50_000, "undecided": 7000,
		"step parse": 15_000, "step schema": 25_000, "step hash": 15_000, "step link": 30, "step signatures": 3000,

		"syntax": 8000, "duplicate_name": 1000, "invalid_utf8": 700, "depth_limit": 400, "number_precision": 300, "trailing_data": 300, "lone_surrogate": 200,
		"number_range": 100, "not_object": 90, "empty_input": 15, "not_a_receipt": 40, "unsupported_schema": 35, "schema_invalid": 25_000,
		"malformed_hash": 160, "hash_mismatch": 15_000, "chain_break": 30, "material_mismatch": 5, "batch_not_checked": 100, "redactions_not_checked": 2500,
		"unsigned": 1000, "unknown_key": 150, "unsupported_algorithm": 180, "malformed_signature": 700, "signature_invalid": 400, "algorithm_mismatch": 2,
		"issuer_unbound": 60, "issuer_mismatch": 200, "role_mismatch": 60, "named_key_missing": 1300, "threshold_not_met": 600,
		"key_not_yet_valid": 60, "key_expired": 60, "key_revoked": 180, "time_order": 170, "failure_state": 70, "counts_differ": 40, "unavailable_reason": 70,
		"issued_later": 500, "cost_sum": 18, "repeated_id": 10,
	}
}
