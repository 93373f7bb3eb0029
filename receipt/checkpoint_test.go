package receipt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/schemas"
)

// TestInclusionPolicy contains the truth table for how checkpoints affect signatures.
func TestInclusionPolicy(t *testing.T) {
	batch, sig := receipt.StepBatch, receipt.StepSignatures
	revoked := refuted(sig, receipt.CodeKeyRevoked, "/signatures/0")
	unsigned := undecided(sig, receipt.CodeUnsigned, "/signatures")
	none := receipt.Policy{}
	cosigners := func(n int, keys ...string) receipt.Policy {
		return receipt.Policy{Checkpoint: receipt.CheckpointRule{Cosigners: receipt.Quorum{Threshold: n, Keys: keys}}}
	}
	nested := cosigners(2, "w1")
	nested.Checkpoint.Cosigners.Groups = []receipt.Quorum{{Threshold: 1, Keys: []string{"w2", "log2witness"}}}
	short := undecided(batch, "threshold_not_met", "")
	schema, err := schemas.Compile("report")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signers string // of the receipt
		log     string // checkpoints, separated by commas
		named   string // issuer.public_key_id
		policy  receipt.Policy
		want    outcome
	}{
		// Inclusion in a log does not show who wrote a receipt.
		{"a", "log1", "", none, verified()},
		{"", "log1", "", none, unsigned},
		{"", "log1 w1@0 w2@0", "", none, unsigned},
		{"", "boundlog", "", none, unsigned},
		{"", "boundlog", "boundlog", none, unsigned},
		{"", "ownb", "", none, unsigned},
		{"b", "own", "", none, verified()}, // the results for the signatures do not change

		// A checkpoint can replace a signature.
		{"", "own", "", none, verified()},
		{"", "own", "own", none, verified()},
		{"", "own", "a", none, unsigned},
		{"a", "own", "a", none, verified()},
		{"", "own", "", receipt.Policy{Issuer: "issuer_a"}, verified()},
		{"", "own", "", receipt.Policy{Issuer: "issuer_b"}, refuted(sig, receipt.CodeIssuerMismatch, "/issuer/id")},
		{"", "ownfree", "", none, undecided(sig, "issuer_unbound", "")},
		{"a", "ownfree", "", none, verified()},
		{"", "ownfree", "", receipt.Policy{Issuer: "issuer_a"}, verified()},
		{"", "ownlate", "", none, refuted(sig, "key_expired", "")},
		{"", "ownlate, log1", "", none, refuted(sig, "key_expired", "")},
		{"", "ownlate w1@-60, log1", "", none, refuted(sig, "key_expired", "")}, // expiry still applies
		{"", "ownlate", "", receipt.Policy{At: noon.Add(-1)}, verified()},
		{"", "ownlate, own", "", none, verified()},
		{"a", "ownlate, log1", "", none, verified()},
		{"", "ownearly", "", none, refuted(sig, "key_not_yet_valid", "")},
		{"a", "ownearly", "", none, verified()}, // the log's key may become valid after the receipt was issued
		{"", "ownearly", "", receipt.Policy{At: noon.Add(time.Second)}, verified()},
		{"", "ownold w1@-60, log1", "", none, refuted(sig, receipt.CodeKeyRevoked, "")},
		{"", "ownstolen, log1", "", none, refuted(sig, receipt.CodeKeyRevoked, "")},
		{"", "ownstolen w1@3599", "", none, verified()},
		{"", "ownstolen w1@3600, log1", "", none, refuted(sig, receipt.CodeKeyRevoked, "")},
		{"", "ownstolen w1@3601, log1", "", none, refuted(sig, receipt.CodeKeyRevoked, "")},
		{"", "ownstolen ownstolenwitness@0, log1", "", none, refuted(sig, receipt.CodeKeyRevoked, "")},
		{"", "ownstolen ownwitness@0, log1", "", none, refuted(sig, receipt.CodeKeyRevoked, "")},
		{"", "ownstolen, log1 w1@0", "", none, refuted(sig, receipt.CodeKeyRevoked, "")}, // another checkpoint's cosignature
		{"", "own", "", receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1}}, undecided(sig, "threshold_not_met", "/signatures")},
		{"w1", "own", "", receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1}}, verified()},
		{"ownwitness", "own", "", receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1}}, undecided(sig, "threshold_not_met", "/signatures")},

		// These checkpoints predate a revocation.
		{"stolen", "log1", "", none, revoked},
		{"stolen", "log1 w1@3599", "", none, verified()},
		{"stolen", "log1 w1@3600", "", none, revoked},
		{"stolen", "log1 w1@3601", "", none, revoked},
		{"stolen", "log1 w1@-999999", "", none, verified()}, // the issuer's clock may be wrong
		{"gone", "log1 w1@3599", "", none, verified()},
		{"gone", "log1 w1@3600", "", none, revoked},
		{"stolen", "log1 wnamed@0", "", none, verified()},
		{"stolen", "log1 w1@3600 w2@0", "", none, verified()},
		{"stolen", "log1 w1@3600 w1@0", "", none, verified()}, // two statements by one witness
		{"stolen", "log1, log2 w1@0", "", none, verified()},
		{"stolen", "own w1@0", "", none, verified()},
		{"stolen", "log1 stolenwitness@0", "", none, revoked},
		{"stolen", "log1 awitness@0", "", none, revoked}, // a cosignature with the issuer's second key
		{"stolen", "log1 both@0", "", none, revoked},
		{"stolen", "log1 bwitness@0", "", none, verified()},
		{"stolen", "log1 logwitness@0", "", none, revoked},
		{"stolen", "log1 lognextwitness@0", "", none, revoked}, // a cosignature with the log's second key
		{"stolen", "log1 a@0", "", none, revoked},              // no witness
		{"stolen", "log1 b@0", "", none, revoked},
		{"stolen", "log1 log2@0", "", none, revoked},
		{"stolen", "log1 log2witness@0", "", none, verified()}, // another log's key
		{"stolen", "log1 stranger@0", "", none, revoked},
		{"stolen", "log1 w+@0", "", none, revoked}, // a key ID that is not a valid note key name
		{"stolen", "log1 wlate@-1", "", none, verified()},
		{"stolen", "log1 wlate@0", "", none, revoked},
		{"stolen", "log1 wearly@0", "", none, verified()},
		{"stolen", "log1 wearly@-1", "", none, revoked},
		{"stolen", "log1 wold@-1", "", none, verified()},
		{"stolen", "log1 wold@0", "", none, revoked},
		{"stolen", "log1 wstolen@0", "", none, revoked}, // whoever has stolen a key can choose the stated times
		{"stolen", "stranger w1@0", "", none, revoked},
		{"stolen", "log1late w1@-60", "", none, revoked},
		{"stolen", "log1stolen", "", none, revoked},
		{"stolen", "log1 w1@0", "", cosigners(1, "w2"), revoked},
		{"stolen", "log1 w1@0 w2@0", "", cosigners(1, "w2"), verified()},
		{"stolen", "log1 w1@0", "", receipt.Policy{At: noon.Add(24 * time.Hour)}, verified()},
		{"old", "log1 w1@-60", "", none, revoked},
		{"late", "log1 w1@-60", "", none, refuted(sig, "key_expired", "/signatures/0")},
		{"early", "log1 w1@-60", "", none, refuted(sig, "key_not_yet_valid", "/signatures/0")},
		{"a wgone", "log1", "", receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1}}, refuted(sig, receipt.CodeKeyRevoked, "/signatures/1")},
		{"a wgone", "log1 w1@3599", "", receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1}}, verified()},
		{"a wgone", "log1 wgonebis@0", "", receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1}}, refuted(sig, receipt.CodeKeyRevoked, "/signatures/1")},
		{"a wgone", "log1 wgone@0", "", receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1}}, refuted(sig, receipt.CodeKeyRevoked, "/signatures/1")},

		// The validity of the log's own key matters.
		{"a", "log1next", "", none, verified()},
		{"a", "log1next", "", receipt.Policy{At: noon}, undecided(batch, "key_not_yet_valid", "")},
		{"a", "log1late", "", none, undecided(batch, "key_expired", "")},
		{"a", "log1late", "", receipt.Policy{At: noon.Add(-1)}, verified()},
		{"a", "log1late log1", "", none, verified()},
		{"a", "log1late log1stolen", "", none, undecided(batch, "key_expired", "")},
		{"a", "log1stolen", "", none, undecided(batch, receipt.CodeKeyRevoked, "")},
		{"a", "log1stolen w1@3599", "", none, verified()},
		{"a", "log1stolen w1@3600", "", none, undecided(batch, receipt.CodeKeyRevoked, "")},
		{"a", "log1stolen, log1", "", none, verified()},
		{"a", "log1stolen, log2 w1@0", "", none, verified()},

		// Unknown logs.
		{"a", "stranger", "", none, undecided(batch, receipt.CodeUnknownKey, "")},
		{"a", "stranger w1@0 w2@0", "", none, undecided(batch, receipt.CodeUnknownKey, "")},
		{"a", "stranger log1", "", none, undecided(batch, receipt.CodeUnknownKey, "")}, // log1 is not the log with that origin
		{"", "stranger own", "", none, undecided(batch, receipt.CodeUnknownKey, "")},
		{"a", "log1 stranger", "", none, verified()},
		{"a", "stranger, log1", "", none, verified()},
		{"", "nolog", "", none, undecided(batch, receipt.CodeUnknownKey, "")},

		// A policy may require a number of cosigners.
		{"a", "log1", "", cosigners(1), short},
		{"a", "log1 w1@0", "", cosigners(1), verified()},
		{"a", "log1 w1@0", "", cosigners(2), short},
		{"a", "log1 w1@0 w2@0", "", cosigners(2), verified()},
		{"a", "log1 w1@0 w1@1", "", cosigners(2), short},
		{"a", "log1 w1@0 w1bis@0", "", cosigners(2), short},
		{"a", "log1 w1@0 awitness@0", "", cosigners(2), short},
		{"a", "log1 w1@0 both@0", "", cosigners(2), short},
		{"a", "log1 w1@0 bothb@0", "", cosigners(2), verified()},
		{"a", "log1 w1@0 logwitness@0", "", cosigners(2), short},
		{"a", "log1 w1@0 wlate@0", "", cosigners(2), short},
		{"a", "log1 w1@0 wstolen@0", "", cosigners(2), short},
		{"a", "log1 w1@0 stranger@0", "", cosigners(2), short},
		{"a", "log1 w1@0, log2 w2@0", "", cosigners(2), short}, // a single checkpoint must have all of them
		{"a", "log1 w1@0, log2 w2@0 w1@0", "", cosigners(2), verified()},
		{"a", "log1 w1@0", "", cosigners(1, "w2"), short},
		{"a", "log1 w1@0", "", cosigners(1, "w1", "w2"), verified()},
		{"a", "stranger w1@0", "", cosigners(1), undecided(batch, receipt.CodeUnknownKey, "")},
		// A group counts as one witness, and only the logs that are listed in the policy are
		// accepted.
		{"a", "log1 w1@0", "", nested, short},
		{"a", "log1 w1@0 w2@0", "", nested, verified()},
		{"a", "log1 w2@0 log2witness@0", "", nested, short},
		{"a", "log1 w1@0 log2witness@0", "", nested, verified()},
		{"a", "log1", "", receipt.Policy{Checkpoint: receipt.CheckpointRule{Required: true, Logs: []string{"log1"}}}, verified()},
		{"a", "log1", "", receipt.Policy{Checkpoint: receipt.CheckpointRule{Required: true, Logs: []string{"log2"}}}, undecided(batch, receipt.CodeUnknownKey, "")},
		{"a", "log1, log2", "", receipt.Policy{Checkpoint: receipt.CheckpointRule{Required: true, Logs: []string{"log2"}}}, verified()},
		{"a w1 w2", "log1", "", cosigners(2), short}, // countersignatures on the receipt are not cosignatures on the checkpoint
	} {
		t.Run(strings.Join([]string{c.signers, c.log, c.named}, "/"), func(t *testing.T) {
			keys := logKeys()
			var signers []*member
			for _, id := range strings.Fields(c.signers) {
				signers = append(signers, keys[id])
			}
			d := plainDraft()
			if c.signers == "b" {
				d.Issuer.ID = "issuer_b"
			}
			d.Issuer.PublicKeyID = c.named
			data := forge(t, d, keep, signers...)
			var list []*tlog.Proof
			for how := range strings.SplitSeq(c.log, ",") {
				list = append(list, keys.prove(t, data, how))
			}
			rep := verify(with(t, verifier(t, keys, c.policy), proofs(list...)), data)
			if got := outcomeOf(rep); got != c.want {
				t.Errorf("%v, want %v\n%s", got, c.want, marshal(t, rep))
			}
			checkReport(t, c.log, schema, rep)
		})
	}
}

// TestStandingResult verifies that a checkpoint that replaces a signature is reported last, and
// that invalid entries still take effect.
func TestStandingResult(t *testing.T) {
	keys := logKeys()
	data := forge(t, plainDraft(), keep, keys["w1"])
	rep := verify(with(t, verifier(t, keys, receipt.Policy{}), proofs(keys.prove(t, data, "own"))), data)
	want := receipt.SignatureResult{KeyID: "own", Algorithm: "checkpoint", Status: receipt.SignatureValid, Role: receipt.RoleIssuer}
	if rep.Verdict != receipt.Verified || len(rep.Signatures) != 2 || rep.Signatures[1] != want {
		t.Errorf("%v %+v", rep.Verdict, rep.Signatures)
	}
	if _, err := with(t, verifier(t, keys, receipt.Policy{}), proofs(keys.prove(t, data, "own"))).Open(data); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		log    string
		status receipt.SignatureStatus
		code   receipt.Code
	}{
		{"ownstolen", receipt.SignatureInvalid, receipt.CodeKeyRevoked},
		{"ownfree", receipt.SignatureNotChecked, "issuer_unbound"},
		{"log1", "", ""}, {"ownb", "", ""},
	} {
		rep := verify(with(t, verifier(t, keys, receipt.Policy{}), proofs(keys.prove(t, data, c.log))), data)
		switch {
		case c.status == "" && len(rep.Signatures) == 1:
		case len(rep.Signatures) != 2 || rep.Signatures[1].Status != c.status || rep.Signatures[1].Code != c.code || rep.Signatures[1].Role != "" || rep.Signatures[1].Detail == "":
			t.Errorf("%s: %+v", c.log, rep.Signatures)
		}
	}

	damaged := []byte(strings.Replace(string(data), `"signature":"base64:`, `"signature":"base64:AAAA`, 1))
	damaged = []byte(strings.Replace(string(damaged), `==",`, `",`, 1))
	for name, bad := range map[string][]byte{"malformed": damaged, "false": falsified(t, keys)} {
		rep := verify(with(t, verifier(t, keys, receipt.Policy{}), proofs(keys.prove(t, bad, "own"))), bad)
		if rep.Verdict != receipt.Refuted || rep.Finding().Step != receipt.StepSignatures {
			t.Errorf("%s entry: %v", name, outcomeOf(rep))
		}
	}

	// An invalid checkpoint decides the result, regardless of the order of the evidence.
	bad := keys.prove(t, data, "own log2")
	at := strings.LastIndex(string(bad.Checkpoint), " ") + 20
	bad.Checkpoint[at] ^= 1
	for name, list := range map[string][]*tlog.Proof{"behind": {keys.prove(t, data, "own"), bad}, "before": {bad, keys.prove(t, data, "own")}} {
		rep := verify(with(t, verifier(t, keys, receipt.Policy{}), proofs(list...)), data)
		if got, want := outcomeOf(rep), refuted(receipt.StepBatch, receipt.CodeCheckpointInvalid, ""); got != want || len(rep.Signatures) != 1 {
			t.Errorf("false checkpoint %s: %v, want %v; %+v", name, got, want, rep.Signatures)
		}
	}

	// If the hash does not match, no evidence takes effect, and none affects the next receipt.
	v := with(t, verifier(t, keys, receipt.Policy{}), proofs(keys.prove(t, data, "own"), keys.prove(t, []byte(strings.Replace(string(data), `"metadata":{}`, `"metadata":{"a":1}`, 1)), "own")))
	if rep := verify(v, []byte(strings.Replace(string(data), `"metadata":{}`, `"metadata":{"a":1}`, 1))); len(rep.Signatures) != 1 || rep.Check(receipt.StepBatch).Code != "step_not_reached" ||
		rep.Check(receipt.StepSignatures).Status == receipt.StatusPassed || rep.Verdict != receipt.Refuted {
		t.Errorf("hash mismatch: %+v", rep)
	}
	// A signature entry that claims to be a checkpoint is not treated as one.
	posing := forge(t, plainDraft(), keep)
	posing = []byte(strings.Replace(string(posing), `"signatures":[]`, `"signatures":[{"key_id":"own","algorithm":"checkpoint","signature":"x"}]`, 1))
	if got, want := outcomeOf(verify(verifier(t, keys, receipt.Policy{}), posing)), undecided(receipt.StepSignatures, receipt.CodeUnsupportedAlgorithm, "/signatures/0"); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestWitnessed checks the time by which enough witnesses had cosigned a checkpoint, and whether
// the checkpoint's log counts as independent of the issuers.
func TestWitnessed(t *testing.T) {
	keys := logKeys()
	for _, c := range []struct {
		how      string
		quorum   int
		at       int // in seconds after noon; -1 if there is no time
		external bool
	}{
		{"log1", 0, -1, true},
		{"log1 w1@60 w2@30", 0, 30, true},
		{"log1 w1@60 w2@30", 1, 30, true},
		{"log1 w1@60 w2@30", 2, 60, true},
		{"log1 w1@60 w2@30", 3, -1, true},
		{"log1 w1@60 w1@30", 1, 30, true}, // a key is counted only once
		{"log1 w1@60 w1@30", 2, -1, true},
		{"log1 awitness@0 w1@60", 1, 60, true}, // an issuer's key is not counted
		{"log1 logwitness@0 w1@60", 1, 60, true},
		{"log1 wstolen@0", 1, -1, true},
		{"own w1@60", 1, 60, false},
		{"stranger w1@60", 1, -1, false},
	} {
		policy := receipt.Policy{Checkpoint: receipt.CheckpointRule{Cosigners: receipt.Quorum{Threshold: c.quorum}}}
		v := verifier(t, keys, policy)
		at, external := v.Witnessed(v.OpenCheckpoint(keys.checkpointOf(t, c.how, 1, merkle.LeafHash(nil))))
		var want time.Time
		if c.at >= 0 {
			want = noon.Add(time.Duration(c.at) * time.Second)
		}
		if !at.Equal(want) || external != c.external {
			t.Errorf("%s, quorum of %d: %v, %v", c.how, c.quorum, at, external)
		}
	}
}

// falsified returns a receipt that contains a well-formed signature of different bytes.
func falsified(t *testing.T, keys ring) []byte {
	t.Helper()
	s, err := keys["w1"].Sign(t.Context(), []byte("other bytes"))
	if err != nil {
		t.Fatal(err)
	}
	data := forge(t, plainDraft(), keep)
	return []byte(strings.Replace(string(data), `"signatures":[]`, `"signatures":[{"key_id":"w1","algorithm":"ed25519","signature":"`+s.Signature+`"}]`, 1))
}
