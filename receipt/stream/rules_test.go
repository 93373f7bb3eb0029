package stream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/schemas"
)

// A forbids value is a rule that is violated if a receipt has a given ID.
type forbids struct {
	id     string
	status receipt.Status
}

func (forbids) Name() string { return "forbids_1" }

func (f forbids) Judge(doc *canon.Document) []receipt.Check {
	if doc.Root().Member("receipt_id").String() != f.id {
		return nil
	}
	return []receipt.Check{{Status: f.status, Pointer: "/receipt_id", Stated: f.id, Detail: "it is forbidden"}}
}

func ruled(t *testing.T, rules ...receipt.Rule) *receipt.Verifier {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRulesSummary verifies that rules affect the verdict for the input, whether the receipts are
// in order or joined by links, and whether or not parts are merged. The written summary must name
// the rules and conform to its schema.
func TestRulesSummary(t *testing.T) {
	docs := newWriter(t, "a").many(6)
	var head struct {
		ID string `json:"receipt_id"`
	}
	if err := json.Unmarshal(docs[2], &head); err != nil {
		t.Fatal(err)
	}
	schema, err := schemas.Compile("summary")
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		status receipt.Status
		want   receipt.Verdict
	}{{receipt.StatusFailed, receipt.Refuted}, {receipt.StatusPassed, receipt.Undecided}} {
		v := ruled(t, forbids{head.ID, c.status})
		sums := map[string]*stream.Summary{}
		for name, sources := range map[string][]stream.Source{
			"in order": {held("all", docs)},
			"by links": {held("a", docs[:3]), held("b", docs[3:])},
			"part 1":   {held("a", docs[:3])},
			"part 2":   {held("b", docs[3:])},
		} {
			sum, err := stream.VerifyFiles(context.Background(), v, sources, stream.Options{}).Summary()
			if err != nil {
				t.Fatal(err)
			}
			sums[name] = sum
		}
		if got := sums["part 2"].Verdict(); got != receipt.Verified {
			t.Errorf("a part that meets the rule is %v", got)
		}
		if sums["merged"], err = sums["part 2"].Merge(sums["part 1"]); err != nil {
			t.Fatal(err)
		}

		for _, name := range []string{"in order", "by links", "merged"} {
			sum := sums[name]
			if sum.Verdict() != c.want || sum.Verified != 5 || sum.Receipts != 6 || sum.Codes["rule_forbids_1"] != 1 {
				t.Errorf("%s: %v, %d of %d verified, codes %v", name, sum.Verdict(), sum.Verified, sum.Receipts, sum.Codes)
			}
			text, err := json.Marshal(sum)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := canon.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if problems := schema.Check(doc.Root()); problems.Total > 0 {
				t.Errorf("%s: %s: %v", name, text, problems)
			}
			var read stream.Summary
			if err := json.Unmarshal(text, &read); err != nil || read.Verdict() != c.want || !bytes.Contains(text, []byte(`"rules":["forbids_1"]`)) {
				t.Errorf("%s: %s: %v", name, text, err)
			}
		}
	}
}

// TestRulesIncomparable verifies that summaries cannot be merged if their rules differ or if only
// one of them has rules, even if an older version wrote them.
func TestRulesIncomparable(t *testing.T) {
	docs := newWriter(t, "a").many(4)
	sum := func(v *receipt.Verifier, part [][]byte) *stream.Summary {
		s, err := stream.VerifyFiles(context.Background(), v, []stream.Source{held("part", part)}, stream.Options{}).Summary()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	with, without := sum(ruled(t, forbids{}), docs[:2]), sum(integrity(t), docs[2:])

	// An older version did not record requirements.
	text, err := json.Marshal(without)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "asked")
	old := new(stream.Summary)
	if text, err = json.Marshal(members); err != nil || json.Unmarshal(text, old) != nil {
		t.Fatal(err, json.Unmarshal(text, old))
	}

	for name, pair := range map[string][2]*stream.Summary{"none": {with, without}, "none first": {without, with}, "old": {with, old}, "old first": {old, with}} {
		var different *stream.IncomparableError
		if _, err := pair[0].Merge(pair[1]); !errors.As(err, &different) || different.What != "rules" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := without.Merge(old); err != nil {
		t.Error(err)
	}
}

// aKey is a key source that contains the key accepted by the type knows.
type aKey struct{ version string }

func (k aKey) Trust(context.Context) (receipt.Trust, string, error) {
	return knows("known"), k.version, nil
}

// TestTrustVersions verifies that the summary contains the version of the keys, and that summaries
// with different versions cannot be merged.
func TestTrustVersions(t *testing.T) {
	c := newCast(t)
	c.sign(t)
	var sums []*stream.Summary
	for i, version := range []string{"v1", "v2"} {
		v, err := receipt.NewSnapshot(context.Background(), aKey{version}, receipt.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := stream.VerifyFiles(context.Background(), v, []stream.Source{held("part", c.streams[i])}, stream.Options{}).Summary()
		if err != nil || s.Verdict() != receipt.Verified {
			t.Fatal(s.Verdict(), err)
		}
		text, err := json.Marshal(s)
		if err != nil || !bytes.Contains(text, []byte(`"trust":"`+version+`"`)) {
			t.Errorf("%s %v", text, err)
		}
		sums = append(sums, s)
	}
	var different *stream.IncomparableError
	if _, err := sums[0].Merge(sums[1]); !errors.As(err, &different) || different.What != "trust" {
		t.Error(err)
	}
}
