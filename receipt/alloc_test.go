package receipt_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/schemas"
)

// believer is a Trust that accepts every entry without allocating memory, so that a test measures
// only the work around a signature check.
type believer struct{ receipt.Key }

func (b *believer) Len() int { return 1 }

func (b *believer) CheckSignature([]byte, *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	return &b.Key, nil
}

// TestSteadyState verifies that, with a reused Document and Report, verifying a receipt without
// findings allocates only what its schema check needs.
func TestSteadyState(t *testing.T) {
	keys := testKeys()
	schema, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	rich := richDraft()
	rich.Cost.ProviderBreakdown = append(rich.Cost.ProviderBreakdown, rich.Cost.ProviderBreakdown[1])
	rich.Cost.Total = 0.5
	for name, c := range map[string]struct {
		draft  *receipt.Draft
		policy receipt.Policy
		key    receipt.Key
	}{
		"issuer":         {plainDraft(), receipt.Policy{}, receipt.Key{ID: "a", Issuers: []string{"issuer_a"}}},
		"issuer, asked":  {plainDraft(), receipt.Policy{Issuer: "issuer_a", At: noon, Now: noon}, receipt.Key{ID: "a"}},
		"every member":   {rich, receipt.Policy{}, receipt.Key{ID: "a", Issuers: []string{"issuer_a"}}},
		"integrity only": {rich, receipt.Policy{IntegrityOnly: true}, receipt.Key{}},
	} {
		data := forge(t, c.draft, keep, keys["a"], keys["a2"])
		v := verifier(t, &believer{c.key}, c.policy)
		doc, rep := new(canon.Document), new(receipt.Report)
		var all, alone float64
		for range 20 { // with the race detector, the number of allocations in the schema check varies
			all = testing.AllocsPerRun(20, func() { v.VerifyBytes(data, doc, rep) })
			alone = testing.AllocsPerRun(20, func() { schema.Check(doc.Root()) })
			if all <= alone {
				break
			}
		}
		if rep.Verdict != receipt.Verified || len(rep.Warnings) > 0 {
			t.Fatalf("%s: %v, %v", name, outcomeOf(rep), rep.Warnings)
		}
		if all > alone {
			t.Errorf("%s: %v allocations, %v of them by the schema", name, all, alone)
		}
	}
}

// TestReportsShareNothing verifies that a clone does not change when the original is reused.
func TestReportsShareNothing(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1}})
	doc, rep := new(canon.Document), new(receipt.Report)
	v.VerifyBytes(forge(t, plainDraft(), keep, keys["w1"], keys["a"]), doc, rep)
	clone := rep.Clone()
	want := marshal(t, clone)
	done := make(chan bool)
	go func() { // the race detector would report a write
		v.VerifyBytes(forge(t, richDraft(), keep, keys["late"], keys["w2"]), new(canon.Document), clone)
		done <- true
	}()
	for range 10 {
		v.VerifyBytes(forge(t, plainDraft(), keep, keys["w1"], keys["a"]), doc, rep)
	}
	<-done
	if got := marshal(t, rep); string(got) != string(want) {
		t.Errorf("reused\n%s\nfirst\n%s", got, want)
	}
}
