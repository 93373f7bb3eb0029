package receipt_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/schemas"
)

// TestTimestamps contains the truth table for how timestamps affect the verdict. The receipt was
// issued at noon.
func TestTimestamps(t *testing.T) {
	schema, err := schemas.Compile("report")
	if err != nil {
		t.Fatal(err)
	}
	const own, checkpoint, other = "own", "checkpoint", "other"
	required := receipt.Policy{Timestamp: true}
	none := undecided(receipt.StepBatch, receipt.CodeTimeSelfAsserted, "")
	later := refuted(receipt.StepBatch, receipt.CodeTimeContradicted, "/issued_at")
	revoked := refuted(receipt.StepSignatures, receipt.CodeKeyRevoked, "/signatures/0")
	type stamp struct {
		of string
		at time.Duration // after noon
	}
	for name, c := range map[string]struct {
		signer, log string
		policy      receipt.Policy
		stamps      []stamp
		want        outcome
		existed     string // the earliest time, as a duration after noon
	}{
		"none":                      {"a", "log1", receipt.Policy{}, nil, verified(), ""},
		"none, required":            {"a", "log1", required, nil, none, ""},
		"of the receipt":            {"a", "", required, []stamp{{own, time.Hour}}, verified(), "1h0m0s"},
		"at the time of issue":      {"a", "", required, []stamp{{own, 0}}, verified(), "0s"},
		"before the time of issue":  {"a", "", receipt.Policy{}, []stamp{{own, -time.Minute - time.Millisecond}}, later, "-1m0.001s"},
		"a minute before it":        {"a", "", required, []stamp{{own, -time.Minute}}, verified(), "-1m0s"},
		"of its checkpoint":         {"a", "log1", required, []stamp{{checkpoint, time.Hour}}, verified(), "1h0m0s"},
		"of an earlier checkpoint":  {"a", "log1", receipt.Policy{}, []stamp{{checkpoint, -2 * time.Minute}}, later, "-2m0s"},
		"the earliest counts":       {"a", "log1", required, []stamp{{own, 3 * time.Hour}, {checkpoint, 2 * time.Hour}, {own, 4 * time.Hour}}, verified(), "2h0m0s"},
		"the earliest contradicts":  {"a", "log1", required, []stamp{{own, 3 * time.Hour}, {checkpoint, -2 * time.Hour}}, later, "-2h0m0s"},
		"of another":                {"a", "log1", receipt.Policy{}, []stamp{{other, -time.Hour}}, verified(), ""},
		"of another, required":      {"a", "log1", required, []stamp{{other, time.Hour}}, none, ""},
		"of an unknown log":         {"a", "stranger", required, []stamp{{checkpoint, time.Hour}}, undecided(receipt.StepBatch, receipt.CodeUnknownKey, ""), ""},
		"before the revocation":     {"stolen", "", receipt.Policy{}, []stamp{{own, time.Hour - time.Millisecond}}, verified(), "59m59.999s"},
		"at the revocation":         {"stolen", "", receipt.Policy{}, []stamp{{own, time.Hour}}, revoked, "1h0m0s"},
		"after the revocation":      {"stolen", "log1", receipt.Policy{}, []stamp{{checkpoint, 2 * time.Hour}}, revoked, "2h0m0s"},
		"a checkpoint before it":    {"stolen", "log1", receipt.Policy{}, []stamp{{checkpoint, time.Minute}}, verified(), "1m0s"},
		"of another, and a thief":   {"stolen", "", receipt.Policy{}, []stamp{{other, time.Minute}}, revoked, ""},
		"expiry":                    {"late", "", receipt.Policy{}, []stamp{{own, time.Minute}}, refuted(receipt.StepSignatures, "key_expired", "/signatures/0"), "1m0s"},
		"integrity, of the receipt": {"a", "", receipt.Policy{IntegrityOnly: true, Timestamp: true}, []stamp{{own, time.Hour}}, verified(), "1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			keys := logKeys()
			data := forge(t, plainDraft(), keep, keys[c.signer])
			digests := map[string]canon.Digest{own: hashOf(t, data), other: canon.Sum([]byte(other))}
			var e receipt.Evidence
			if c.log != "" {
				proof := keys.prove(t, data, c.log)
				signed, err := tlog.OpenSigned(proof.Checkpoint, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				digests[checkpoint], e.Proofs = canon.Sum([]byte(signed.String())), []*tlog.Proof{proof}
			}
			for _, s := range c.stamps {
				e.Timestamps = append(e.Timestamps, receipt.Timestamp{Digest: digests[s.of], ProvenTime: receipt.ProvenTime{Time: receipt.At(noon.Add(s.at)), Authority: `"TSA"` + "\x1b"}})
			}

			watching, idle := with(t, verifier(t, keys, c.policy), e).TrackEvidence()
			rep := verify(watching, data)
			if got := outcomeOf(rep); got != c.want {
				t.Errorf("%v, want %v\n%s", got, c.want, marshal(t, rep))
			}
			existed := ""
			if at := rep.Existed.Time; !at.IsZero() {
				existed = at.Sub(noon).String()
			}
			if existed != c.existed {
				t.Errorf("existed %q, want %q", existed, c.existed)
			}
			if unused := fmt.Sprint(idle()) != "[]"; unused != (len(c.stamps) > 0 && existed == "") {
				t.Errorf("idle: %v", idle())
			}
			checkReport(t, name, schema, rep)
		})
	}
}

// TestTimestampOfDamage verifies that a receipt that does not match its hash has no proven time.
func TestTimestampOfDamage(t *testing.T) {
	keys := logKeys()
	data := forge(t, plainDraft(), keep, keys["a"])
	stamps := receipt.Evidence{Timestamps: []receipt.Timestamp{{Digest: hashOf(t, data), ProvenTime: receipt.ProvenTime{Time: receipt.At(noon)}}}}
	damaged := []byte(string(data[:len(data)-1]) + `,"more":1}`)
	rep := verify(with(t, verifier(t, keys, receipt.Policy{}), stamps), damaged)
	if rep.Verdict != receipt.Refuted || !rep.Existed.Time.IsZero() {
		t.Errorf("%s", marshal(t, rep))
	}
	if _, err := with(t, verifier(t, keys, receipt.Policy{}), stamps).With(stamps); err == nil {
		t.Error("timestamps were given twice")
	}
}
