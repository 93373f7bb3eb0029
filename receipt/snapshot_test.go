package receipt_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// A keyService is a key source that can be down.
type keyService struct {
	keys    receipt.Trust
	version string
	down    error
	asked   *int
}

func (s keyService) Trust(context.Context) (receipt.Trust, string, error) {
	if s.asked != nil {
		*s.asked++
	}
	return s.keys, s.version, s.down
}

func snapshot(t *testing.T, s keyService, p receipt.Policy) *receipt.Verifier {
	t.Helper()
	v, err := receipt.NewSnapshot(context.Background(), s, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSnapshotDown verifies that, if the key source is down, results that depend on keys are
// undecided, that the cause is not reported as an unknown key, and that all other checks are made.
func TestSnapshotDown(t *testing.T) {
	keys := logKeys()
	secret := errors.New("dial postgres://audit:hunter2@keys")
	down := keyService{keys: keys, version: "7", down: secret}
	data := forge(t, plainDraft(), keep, keys["a"])
	leaf := receipt.CheckpointLeaf(hashOf(t, data))
	altered := []byte(strings.Replace(string(data), "task_1", "task_2", 1))

	v := snapshot(t, down, receipt.Policy{})
	if version, err := v.Snapshot(); err != secret || version != "" {
		t.Error(version, err)
	}
	want := undecided(receipt.StepSignatures, receipt.CodeTrustUnavailable, "/signatures/0")
	for name, v := range map[string]*receipt.Verifier{
		"signature": v,
		"witnesses": snapshot(t, down, receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1, Keys: []string{"w1"}}}),
	} {
		rep := verify(v, data)
		if got := outcomeOf(rep); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if text, err := receipt.AppendJSON(nil, rep); err != nil || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "unknown_key") {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
	if got := verify(v, altered).Verdict; got != receipt.Refuted {
		t.Errorf("an altered receipt is %v", got)
	}

	want = undecided(receipt.StepBatch, receipt.CodeTrustUnavailable, "")
	for name, evidence := range map[string]receipt.Evidence{
		"proof":       proofs(keys.prove(t, data, "own")),
		"stray proof": proofs(keys.prove(t, altered, "own")),
		"checkpoint":  {Checkpoint: v.OpenCheckpoint(keys.checkpointOf(t, "own", 1, merkle.Hash(leaf))), Uncompared: "no trusted key signed it"},
	} {
		if got := outcomeOf(verify(with(t, v, evidence), data)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestSnapshot verifies that a verifier keeps using the keys and the version in its snapshot, and
// that it queries a source only once.
func TestSnapshot(t *testing.T) {
	asked := 0
	s := keyService{keys: logKeys(), version: "v7", asked: &asked}
	v := snapshot(t, s, receipt.Policy{})
	data := forge(t, plainDraft(), keep, logKeys()["a"])
	for range 3 {
		if got := verify(v, data).Verdict; got != receipt.Verified {
			t.Error(got)
		}
	}
	if version, err := v.Snapshot(); asked != 1 || version != "v7" || err != nil {
		t.Error(asked, version, err)
	}

	s.down = errors.New("down")
	if v := snapshot(t, s, receipt.Policy{IntegrityOnly: true}); asked != 1 || verify(v, data).Verdict != receipt.Verified {
		t.Error("integrity needs no keys")
	}
	for name, s := range map[string]keyService{
		"no keys":      {version: "v7"},
		"empty":        {keys: ring{}},
		"long version": {keys: logKeys(), version: strings.Repeat("v", 129)},
	} {
		if _, err := receipt.NewSnapshot(context.Background(), s, receipt.Policy{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestTrustUnavailable verifies that a Trust can report a failure for a single signature.
func TestTrustUnavailable(t *testing.T) {
	data := forge(t, plainDraft(), keep, logKeys()["a"])
	v, err := receipt.NewVerifier(oddTrust{&receipt.SignatureError{Code: receipt.CodeTrustUnavailable, Detail: "timeout"}}, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := outcomeOf(verify(v, data)), undecided(receipt.StepSignatures, receipt.CodeTrustUnavailable, "/signatures/0"); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
