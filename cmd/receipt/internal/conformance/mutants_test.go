package conformance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/conformance"
)

// mutants lists faults of the small verifier, each with a case that must detect the fault.
var mutants = []struct{ fault, caught string }{
	{"ignores signatures", "one bit of S is flipped"},
	{"ignores links", "a receipt in the middle is missing"},
	{"accepts duplicate members", "a name occurs twice, and the last counts"},
	{"treats undecided as valid", "the receipt has no signatures"},
	{"ignores revocations", "the key was compromised later"},
	{"does not check canonical bytes of archives", "a small integer has two bytes"},
	{"ignores the size of checkpoints", "the log signed a larger size with the same root"},
	{"accepts a wrong index", "the index is the sibling's"},
	{"ignores the size in proofs", "the log signed a larger size with the same root"},
	{"ignores the salt of disclosures", "the twin of a case in which the salt is another one"},
	{"ignores commitments", "the value is another text"},
	{"ignores contradictions of disclosed values", "the receipt still has another value in that place"},
	{"ignores checkpoints and proofs", "the log signed another root"},
	{"trusts every log", "an unknown key signed the checkpoint"},
	{"ignores the schema", " is absent"},
	{"ignores the bytes of materials", "the bytes of a material are others"},
	{"believes the stated hash", "the cost was changed after signing"},
	{"hashes the bytes instead of the canonical form", "the receipt is indented"},
	{"sorts names by code points", "names have different orders in UTF-8 and UTF-16"},
	{"rounds large integers", "an integer is 2^53+1"},
	{"accepts any spelling of base64", "unused bits of the last character are set"},
	{"checks only the first valid signature", "a second entry, of a trusted key, is invalid"},
	{"ignores the key that the receipt names", "another key of the issuer signed than the receipt names"},
	{"ignores the validity of keys", "the key had expired"},
	{"ignores the issuers of keys", "the key speaks for another issuer"},
	{"ignores the roles of keys", "the key is a witness"},
	{"lets unbound keys speak for anybody", "the key is not bound to an issuer, and the caller names none"},
	{"ignores repeated ids", "two receipts have one receipt_id"},
	{"ignores the expected end", "one receipt more is expected"},
}

// leastAnswered is the minimum number of cases that the small verifier must support.
const leastAnswered = 500

// TestSmallVerifier verifies that a verifier of a few hundred lines, which does not use this
// module's verifier, returns the expected answer for all cases that it supports.
func TestSmallVerifier(t *testing.T) {
	s := scored(t, small{})
	for _, d := range s.Totals.Failed {
		t.Errorf("%s %s (%s): %s, expected %s", d.ID, d.Subject, d.Conditions, d.Found, d.Expected.Verdict)
	}
	if s.Verifier.VectorsExecuted < leastAnswered {
		t.Errorf("%d cases answered, expected at least %d", s.Verifier.VectorsExecuted, leastAnswered)
	}
	if s.Exit() == 0 {
		t.Error("the run exits 0, although cases were not exercised")
	}
}

// TestMutants verifies that the corpus detects each fault and identifies it: the report of the run
// lists a case about the rule that the verifier does not check. With -v, the test prints all cases
// that detect the fault.
func TestMutants(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.fault, func(t *testing.T) {
			s := scored(t, small{m.fault})
			var names []string
			for _, d := range s.Totals.Failed {
				names = append(names, d.Conditions)
			}
			t.Logf("%d cases: %s", len(names), strings.Join(names, "; "))
			if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, m.caught) }) {
				t.Errorf("no failed case is about %q", m.caught)
			}
			if s.Exit() != 1 {
				t.Errorf("exit %d, expected 1", s.Exit())
			}
		})
	}
}

// scored runs a small verifier on the corpus.
func scored(t *testing.T, v small) *conformance.Scoreboard {
	t.Helper()
	s, err := conformance.Score(t.Context(), corpus, nil, 2, func(_ context.Context, file string) (string, string, error) {
		verdict, err := v.answer(file)
		return verdict, "", err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMutantProcess verifies that a broken verifier is also detected if it runs as a separate
// program.
func TestMutantProcess(t *testing.T) {
	for _, c := range []struct{ fault, verdict string }{{"", invalid}, {"ignores signatures", valid}} {
		t.Setenv("CONFORMANCETEST_VERIFIER", "small:"+c.fault)
		verdict, err := conformance.AnswerOf(t.Context(), []string{os.Args[0]}, caseAbout(t, "one bit of S is flipped"), time.Minute)
		if err != nil || verdict != c.verdict {
			t.Errorf("fault %q: %s, %v; expected %s", c.fault, verdict, err, c.verdict)
		}
	}
}

// caseAbout returns the file of the case that has the given conditions.
func caseAbout(t *testing.T, conditions string) string {
	t.Helper()
	for _, v := range readManifest(t).Vectors {
		if v.Conditions == conditions {
			return filepath.Join(corpus, v.File)
		}
	}
	t.Fatalf("no case is about %q", conditions)
	return ""
}

// smallMain runs a small verifier as a program.
func smallMain(fault string) {
	verdict, err := small{fault}.answer(os.Args[len(os.Args)-1])
	if err != nil {
		os.Exit(4)
	}
	fmt.Printf("{\"verdict\": %q, \"code\": null}\n", verdict)
	os.Exit(slices.Index([]string{valid, invalid, undecidable}, verdict))
}
