package aggregate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

const text = `{"lifecycle":{"completed_at":%q},"cost":{"currency":%q,"total":%s},"approvals":[{"decision":"approved"},{"decision":"denied"},{"decision":"timeout"},{"decision":"denied"}],
"side_effects":{"fs_writes":[{},{}],"network_egress":[{"bytes_sent":2048},{}],"tool_calls":[{}],"a2a_handoffs":[{},{},{}]}}`

// A seen value contains the arguments of one call to Add.
type seen struct {
	rep  *receipt.Report
	root canon.Node
}

func entry(t testing.TB, verdict receipt.Verdict, completed, currency, total string) seen {
	t.Helper()
	src := fmt.Appendf(nil, text, completed, currency, total)
	doc, err := canon.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	rep := &receipt.Report{Verdict: verdict, Scope: receipt.ScopeFull, ReceiptHash: canon.Sum(src)}
	for _, s := range []receipt.Step{receipt.StepParse, receipt.StepSchema, receipt.StepHash} {
		rep.Checks = append(rep.Checks, receipt.Check{Step: s, Status: receipt.StatusPassed})
	}
	return seen{rep, doc.Root()}
}

func aggregated(t testing.TB, list ...seen) string {
	t.Helper()
	var a Aggregate
	for _, s := range list {
		a.Add(s.rep, s.root)
	}
	out, err := json.Marshal(&a)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func wants(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s\nhas no %s", got, part)
		}
	}
}

func TestSums(t *testing.T) {
	const first, second = "2026-04-25T19:17:33Z", "2026-04-25T19:59:59.999Z"
	got := aggregated(t,
		entry(t, receipt.Verified, first, "USD", "0.1"),
		entry(t, receipt.Verified, second, "USD", "0.2"),
		entry(t, receipt.Verified, second, "EUR", "7"),
		entry(t, receipt.Undecided, "2026-04-25T22:00:00+02:00", "USD", "5"),
		entry(t, receipt.Refuted, second, "USD", "1e3"))
	verified := `{"receipts":3,"files":6,"bytes_sent":"6144","egress":6,"tool_calls":3,"handoffs":9,"approvals":{"approved":3,"denied":6,"canceled":0,"timeout":3},"cost":{"EUR":"7","USD":"0.3"}}`
	wants(t, got, `"unit":"hour","currencies":["EUR","USD"]`,
		`"totals":{"verified":`+verified+`,"other":{"receipts":2,`, `"cost":{"USD":"1005"}}},"bins"`,
		`"bins":[{"start":"2026-04-25T19:00:00Z","empty":0,"verified":`+verified, `{"start":"2026-04-25T20:00:00Z","empty":0,"verified":{"receipts":0`,
		`"left_out":{"hash":0,"copies":0,"currency":0,"time":0,"unseen":0,"untold":{"cost":0,"files":0,"egress":5,"tool_calls":0,"handoffs":0,"approvals":0},"at_most":0,"reckoned":0}`)
}

// TestUntold verifies that unreported parts are counted separately from the sums, once per receipt.
func TestUntold(t *testing.T) {
	told := func(unreported string, egress string) seen {
		src := fmt.Appendf(nil, `{"metadata":{"unreported":%s},"lifecycle":{"completed_at":"2026-04-25T19:17:33Z"},"cost":{"currency":"USD","total":0},"side_effects":{"network_egress":%s}}`, unreported, egress)
		s := entry(t, receipt.Verified, "", "", "0")
		doc, err := canon.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		s.rep.ReceiptHash = canon.Sum(src)
		return seen{s.rep, doc.Root()}
	}
	got := aggregated(t,
		told(`["/cost","/approvals"]`, `[]`),
		told(`["/cost/total","/side_effects"]`, `[]`),
		told(`[]`, `[{"bytes_sent":5}]`),
		told(`["/cost/provider_breakdown"]`, `[{"bytes_sent":5},{}]`))
	wants(t, got, `"untold":{"cost":2,"files":1,"egress":2,"tool_calls":1,"handoffs":1,"approvals":1}`)
}

// TestAtMost verifies that receipts whose cost is an upper bound are counted.
func TestAtMost(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"metadata":{"at_most":["/autonomy_budget/consumed/usd","/cost/total"]},"lifecycle":{"completed_at":"2026-04-25T19:17:33Z"},"cost":{"currency":"USD","total":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	s := entry(t, receipt.Verified, "", "", "0")
	wants(t, aggregated(t, seen{s.rep, doc.Root()}), `"at_most":1`)
}

// TestReckoned verifies that receipts with estimated costs are counted.
func TestReckoned(t *testing.T) {
	for estimated, want := range map[string]int{
		`["/cost/total"]`: 1, `["/autonomy_budget/consumed/usd","/cost/provider_breakdown/0/amount"]`: 1, `["/cost"]`: 1,
		`["/autonomy_budget/consumed/usd"]`: 0, `["/costs"]`: 0, `"/cost/total"`: 0, `[{"/cost/total":1},7]`: 0, `[]`: 0,
	} {
		src := fmt.Appendf(nil, `{"metadata":{"estimated":%s},"cost":{"currency":"USD","total":1}}`, estimated)
		doc, err := canon.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		s := entry(t, receipt.Verified, "", "", "0")
		wants(t, aggregated(t, seen{s.rep, doc.Root()}), fmt.Sprintf(`"reckoned":%d}`, want), `"cost":{"USD":"1"}`)
	}
}

func TestNothing(t *testing.T) {
	wants(t, aggregated(t), `"currencies":[]`, `"bins":[]`, `"verified":{"receipts":0`, `"bytes_sent":"0"`, `"cost":{}`)
}

// TestEvidence verifies that an altered receipt adds nothing to the sums, and that a receipt for
// which only integrity was checked is not counted as verified.
func TestEvidence(t *testing.T) {
	altered := entry(t, receipt.Verified, "2026-04-25T19:17:33Z", "USD", "100")
	altered.rep.Checks[2].Status = receipt.StatusFailed
	invalid := entry(t, receipt.Verified, "2026-04-25T19:17:33Z", "USD", "200")
	invalid.rep.Checks[1].Status = receipt.StatusFailed
	intact := entry(t, receipt.Verified, "2026-04-25T19:17:33Z", "USD", "300")
	intact.rep.Scope = receipt.ScopeIntegrity
	got := aggregated(t, altered, invalid, seen{&receipt.Report{}, canon.Node{}}, intact)
	wants(t, got, `"left_out":{"hash":3,`, `"verified":{"receipts":0,`, `"other":{"receipts":1,`, `"cost":{"USD":"300"}`)
}

// TestCopies verifies that a receipt is counted once in each class, so that an earlier copy without
// a signature does not affect the verified copy.
func TestCopies(t *testing.T) {
	e := entry(t, receipt.Verified, "2026-04-25T19:17:33Z", "USD", "2")
	stripped := entry(t, receipt.Undecided, "2026-04-25T19:17:33Z", "USD", "2")
	got := aggregated(t, stripped, e, e, stripped)
	wants(t, got, `"verified":{"receipts":1,`, `"other":{"receipts":1,`, `"copies":2`)
}

func TestCurrencies(t *testing.T) {
	var list []seen
	for i := range maxCurrencies + 2 {
		list = append(list, entry(t, receipt.Verified, "2026-04-25T19:17:33Z", "AA"+string(rune('A'+i)), "1"))
	}
	wants(t, aggregated(t, list...), `"currency":2,`, `"receipts":10,`, `"AAH":"1"}`)
}

func TestTimes(t *testing.T) {
	got := aggregated(t,
		entry(t, receipt.Verified, "yesterday", "USD", "1"),
		entry(t, receipt.Verified, "0000-01-01T00:00:00+01:00", "USD", "1"),
		entry(t, receipt.Verified, "0000-01-01T00:00:00Z", "USD", "1"),
		entry(t, receipt.Verified, "9999-12-31T23:59:59Z", "USD", "1"))
	wants(t, got, `"time":2,`, `{"start":"0000-01-01T00:00:00Z"`, `{"start":"9900-01-01T00:00:00Z"`, `"cost":{"USD":"4"}`)
}

// TestOutlier verifies that one receipt with a distant time does not make the bins of all other
// receipts coarser.
func TestOutlier(t *testing.T) {
	var list []seen
	for i := range 10 {
		list = append(list, entry(t, receipt.Verified, fmt.Sprintf("2026-04-25T%02d:00:00Z", i), "USD", "1"))
	}
	got := aggregated(t, append(list, entry(t, receipt.Undecided, "9999-01-01T00:00:00Z", "USD", "1"))...)
	wants(t, got, `{"unit":"hour"`, `{"start":"9999-01-01T00:00:00Z","empty":2562046,`, `{"start":"2026-04-25T09:00:00Z","empty":0,`)
}

// TestUnits verifies that the number of bins stays small, that every receipt is counted in one of
// them, and that the order of receipts does not matter.
func TestUnits(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	for _, test := range []struct {
		step  time.Duration
		count int
		unit  string
		bins  int
	}{
		{time.Hour, 1, "hour", 1}, {time.Hour, 100, "hour", 100}, {time.Hour, 101, "day", 5}, {24 * time.Hour, 100, "day", 100},
		{7 * time.Hour, 18, "hour", 18}, {7 * time.Hour, 19, "day", 6}, {8 * time.Hour, 2, "day", 1}, {400 * 24 * time.Hour, 2, "year", 2},
		{24 * time.Hour, 101, "month", 4}, {31 * 24 * time.Hour, 100, "month", 100}, {31 * 24 * time.Hour, 101, "year", 9},
		{365 * 24 * time.Hour, 200, "century", 3}, {79 * 365 * 24 * time.Hour, 100, "century", 79},
	} {
		var list []seen
		for i := range test.count {
			at := begin
			for range i { // added in steps, because a Duration can represent at most 292 years
				at = at.Add(test.step)
			}
			list = append(list, entry(t, receipt.Verified, at.Format(time.RFC3339), "USD", "0.1"))
		}
		got := aggregated(t, list...)
		if bins := strings.Count(got, `"start"`); bins != test.bins {
			t.Errorf("%d by %v: %d bins, want %d", test.count, test.step, bins, test.bins)
		}
		if !strings.HasPrefix(got, `{"unit":"`+test.unit+`"`) {
			t.Errorf("%d by %v: %.20s, want %s", test.count, test.step, got, test.unit)
		}
		binned := 0
		var j struct {
			Bins []struct{ Verified struct{ Receipts int } }
		}
		if err := json.Unmarshal([]byte(got), &j); err != nil {
			t.Fatal(err)
		}
		for _, b := range j.Bins {
			binned += b.Verified.Receipts
		}
		if binned != test.count {
			t.Errorf("%d by %v: %d are in bins", test.count, test.step, binned)
		}
		shuffled := slices.Clone(list)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if again := aggregated(t, shuffled...); again != got {
			t.Errorf("%d by %v: another order gives\n%s\nnot\n%s", test.count, test.step, again, got)
		}
	}
}
