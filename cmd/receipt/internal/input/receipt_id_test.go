package input

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/memory"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// ledgerOf returns a ledger that contains receipts with the given IDs.
func ledgerOf(t *testing.T, ids ...string) ledger.Reader {
	t.Helper()
	l := new(memory.Ledger)
	issuer := &ledger.Issuer{Store: l, Unsigned: true}
	for _, id := range ids {
		d := storetest.Draft(id, "w")
		d.ReceiptID = id
		if _, err := issuer.Issue(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestFindID(t *testing.T) {
	l := ledgerOf(t, "receipt_4d56-aa.task-9a01c3f7", "receipt_4d56-aa.task-9a01c3f7_2", "receipt_4d56-aa.task-77e0", "receipt_t1", "t1", "77e0x", "receipt_task")
	for text, want := range map[string]string{
		"receipt_4d56-aa.task-77e0": "receipt_4d56-aa.task-77e0",
		"4d56-aa.task-7":            "receipt_4d56-aa.task-77e0",
		"77e0":                      "receipt_4d56-aa.task-77e0", // a complete match, so 77e0x is not a candidate
		"77e0x":                     "77e0x",
		"9a01c3f7":                  "receipt_4d56-aa.task-9a01c3f7",
		"9a01c3f7_":                 "receipt_4d56-aa.task-9a01c3f7_2",
		"9a01":                      "ambiguous: 2",
		"4d56":                      "ambiguous: 3",
		"rece":                      "ambiguous: 5",
		"t1":                        "t1", // a complete ID takes precedence over a part of an ID
		"receipt_t1":                "receipt_t1",
		"task":                      "receipt_task",
		"77e":                       "77e", // too short
		"":                          "",
		"nosuch":                    "nosuch",
	} {
		got, err := FindID(t.Context(), l, text)
		var told *cli.Failure
		if errors.As(err, &told) {
			_, rest, _ := strings.Cut(told.Error(), "is a prefix of ")
			n, _, _ := strings.Cut(rest, " ")
			got = "ambiguous: " + n
		}
		if got != want {
			t.Errorf("%q: %q, %v, expected %q", text, got, err, want)
		}
	}
}

// TestAmbiguousID verifies that an error about an ambiguous ID lists a bounded number of IDs.
func TestAmbiguousID(t *testing.T) {
	var ids []string
	for i := range 9 {
		ids = append(ids, fmt.Sprint("receipt_abcd", i))
	}
	_, err := FindID(t.Context(), ledgerOf(t, ids...), "abcd")
	const want = `"abcd" is a prefix of 9 receipt IDs: "receipt_abcd0", "receipt_abcd1", "receipt_abcd2", "receipt_abcd3", "receipt_abcd4", and 4 more`
	if err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

// TestShortIDs verifies that FindID finds each receipt by its short ID, and that UUIDs are
// shortened to eight characters.
func TestShortIDs(t *testing.T) {
	if got := ShortIDs([]string{"receipt_4d5611e5-241a.task-9a01c3f7-11", "receipt_4d5611e5-241a.task-77e012ab-22"}); fmt.Sprint(got) != "[9a01c3f7 77e012ab]" {
		t.Error(got)
	}

	random := rand.New(rand.NewPCG(31, 1))
	word := func() string {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString([]string{"a", "b", "é", "receipt_", ".task-"}[random.IntN(5)])
		}
		return b.String()
	}
	for range 300 {
		seen, ids := map[string]bool{}, []string{}
		for range 1 + random.IntN(8) {
			if id := word(); !seen[id] {
				seen[id], ids = true, append(ids, id)
			}
		}
		l := ledgerOf(t, ids...)
		for i, short := range ShortIDs(ids) {
			if got, err := FindID(t.Context(), l, short); err != nil || got != ids[i] {
				t.Fatalf("%q of %q: %q, %v, expected %q", short, ids, got, err, ids[i])
			}
		}
	}
}
