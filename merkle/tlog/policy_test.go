package tlog_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// readVectors decodes a file of test vectors for transparency logs, which must contain at least the
// given number of cases.
func readVectors[T any](t *testing.T, name string, atLeast int) (list []T) {
	t.Helper()
	if err := json.Unmarshal(vectors.File(t, "transparency", "made", name), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < atLeast {
		t.Fatalf("%s: %d cases, expected at least %d", name, len(list), atLeast)
	}
	return list
}

func TestPolicyVectors(t *testing.T) {
	type vector struct {
		Name, Policy, Why string
		Valid             bool
	}
	for _, v := range readVectors[vector](t, "policies.json", 28) {
		p, err := tlog.ParsePolicy([]byte(v.Policy))
		if (err == nil) != v.Valid {
			t.Errorf("%s: %v, expected valid %v: %s", v.Name, err, v.Valid, v.Why)
		}
		if bad := (*tlog.PolicyError)(nil); err != nil && (p != nil || !errors.As(err, &bad)) {
			t.Errorf("%s: %v, %T", v.Name, p, err)
		}
	}
}

// verdictOf returns the verdict on a proof under a policy: malformed, refuted, undecided, or
// verified.
func verdictOf(policy *tlog.Policy, entry, text []byte) string {
	proof, err := tlog.ParseProof(text)
	if err == nil {
		_, err = policy.CheckProof(proof, entry)
	}
	var badProof *tlog.ProofError
	var badNote *tlog.CheckpointError
	switch {
	case err == nil:
		return "verified"
	case errors.As(err, &badProof), errors.As(err, &badNote):
		return "malformed"
	case errors.Is(err, tlog.ErrUnmet):
		return "undecided"
	}
	return "refuted"
}

func TestProofVectors(t *testing.T) {
	type vector struct {
		Name, Policy, Proof, Want, Why string
		Entry                          string `json:"entry_hex"`
	}
	for _, v := range readVectors[vector](t, "proofs.json", 30) {
		policy, err := tlog.ParsePolicy([]byte(v.Policy))
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		entry, err := hex.DecodeString(v.Entry)
		if err != nil {
			t.Fatal(err)
		}
		if got := verdictOf(policy, entry, []byte(v.Proof)); got != v.Want {
			t.Errorf("%s: %s, expected %s: %s", v.Name, got, v.Want, v.Why)
		}

		// Another entry is refuted even if cosignatures are missing, unless no log has signed.
		want := "refuted"
		if v.Want == "malformed" || v.Name == "no log signature" {
			want = v.Want
		}
		if got := verdictOf(policy, append(entry, 0), []byte(v.Proof)); got != want {
			t.Errorf("%s, another entry: %s, expected %s", v.Name, got, want)
		}
	}
}

func TestCosignatureVectors(t *testing.T) {
	type vector struct {
		Vkey, Line, Want, Algorithm string
		Text                        string `json:"checkpoint_text"`
		Time                        int64
	}
	for i, v := range readVectors[vector](t, "cosignatures.json", 8) {
		key, err := tlog.ParseVerifier(v.Vkey)
		if err != nil {
			t.Fatal(err)
		}
		witness, ok := key.(*tlog.Witness)
		if !ok || witness.String() != v.Vkey {
			t.Errorf("%d: %T, %v", i, key, witness)
		}
		s, err := tlog.OpenSigned([]byte(v.Text+"\n"+v.Line), nil, []*tlog.Witness{witness})
		valid := err == nil && len(s.Cosignatures) == 1 && s.Cosignatures[0].At.Unix() == v.Time
		if valid != (v.Want == "valid") {
			t.Errorf("%d (%s): %v, %v, expected %s", i, v.Algorithm, s, err, v.Want)
		}
	}
}
