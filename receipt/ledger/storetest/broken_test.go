package storetest_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// brokenStore is an environment variable that specifies the fault of the store that TestBroken
// tests.
const brokenStore = "STORETEST_BROKEN"

// TestBroken verifies that each broken store fails the subtest that is intended to detect it. The
// suite runs in a separate process, in the same way as for an author of a store.
func TestBroken(t *testing.T) {
	if f, ok := os.LookupEnv(brokenStore); ok {
		storetest.Run(t, func(*testing.T) func() ledger.Store { return newMemory(fault(f)) })
		return
	}

	for f, subtest := range map[fault]string{
		forks:        "two_handles",
		dropsLast:    "run_of_128",
		reorders:     "order",
		losesAnswers: "canceled_meanwhile",
		noPrefix:     "prefix",
		ignores:      "canceled",
		halves:       "several_runs",

		ignoresKeySees: "find_sees",
		ignoresTask:    "filter_task",
		ignoresSession: "filter_session",
		ignoresStream:  "filter_stream",
		ignoresFrom:    "filter_from",
		ignoresBefore:  "filter_before",
		ignoresUntil:   "filter_until",
		ignoresSees:    "filter_sees",
		ignoresLimit:   "filter_limit",

		findsItself:  "rival",
		sharesMemory: "rows",
		roundsTimes:  "rows",
		locksWalk:    "append_while_walking",
		dropsStream:  "heads",
		miscounts:    "heads",
		overwrites:   "replace",
		keepsBytes:   "replace",
	} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			suite := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBroken$", "-test.v")
			suite.Env = append(os.Environ(), brokenStore+"="+string(f))
			out, err := suite.CombinedOutput()
			if err == nil {
				t.Fatalf("the store passes:\n%s", out)
			}

			var failed []string
			for _, match := range regexp.MustCompile(`(?m)^    --- FAIL: TestBroken/(\S+)`).FindAllSubmatch(out, -1) {
				failed = append(failed, string(match[1]))
			}
			t.Logf("it fails %q", failed)
			if !slices.Contains(failed, subtest) {
				t.Errorf("it does not fail %q:\n%s", subtest, out)
			}
		})
	}
}
