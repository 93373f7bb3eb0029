package attest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// TestKeys verifies that the key of an envelope must meet the same rules, at the same time, as the
// key of a receipt.
func TestKeys(t *testing.T) {
	issued := time.Date(2026, 4, 25, 19, 17, 33, 0, time.UTC)
	for _, test := range []struct {
		key    string
		policy receipt.Policy
		want   string
	}{
		{"key_second", receipt.Policy{}, "verified"},
		{"key_eddsa", receipt.Policy{}, "verified"},
		{"key_es256", receipt.Policy{}, "verified"},
		{"key_es256", receipt.Policy{Plain: true}, "verified"},
		{"key_stranger", receipt.Policy{}, "undecided signatures unknown_key"},
		{"key_unbound", receipt.Policy{}, "undecided signatures issuer_unbound"},
		{"key_unbound", receipt.Policy{Issuer: "harness_example_cloud"}, "verified"},
		{"key_other_issuer", receipt.Policy{}, "refuted signatures issuer_mismatch"},
		{"key_expired", receipt.Policy{}, "refuted signatures key_expired"},
		{"key_future", receipt.Policy{}, "refuted signatures key_not_yet_valid"},
		{"key_revoked", receipt.Policy{}, "refuted signatures key_revoked"},
		{"key_compromised", receipt.Policy{}, "refuted signatures key_revoked"},
		{"key_superseded", receipt.Policy{}, "refuted signatures key_revoked"},
		{"key_superseded_later", receipt.Policy{}, "verified"},
		{"key_superseded_later", receipt.Policy{At: issued.AddDate(20, 0, 0)}, "refuted signatures key_revoked"},
		{"witness_1", receipt.Policy{}, "undecided signatures unsigned"},
		{"log_1", receipt.Policy{}, "refuted signatures role_mismatch"},
		{"key_second", receipt.Policy{Issuer: "another"}, "refuted signatures issuer_mismatch"},
	} {
		rep := newDesk(t, test.policy).judge(t, bundle(t, "valid/minimal.json", head, test.key))
		if got := outcome(rep); got != test.want {
			t.Errorf("%s: %s, want %s: %+v", test.key, got, test.want, rep.Finding())
		}
	}

	// If a receipt names its key, an attestation with another key is not sufficient.
	rep := newDesk(t, receipt.Policy{}).judge(t, bundle(t, "valid/task.json", head, "key_second"))
	if got := outcome(rep); got != "undecided signatures named_key_missing" {
		t.Error(got)
	}
}

// TestIntegrity verifies that, without keys, the form and the subjects are checked but the
// signature is not.
func TestIntegrity(t *testing.T) {
	d := newDesk(t, receipt.Policy{IntegrityOnly: true})
	good := bundle(t, "valid/task.json", head, "key_2026_04")
	for _, test := range []struct {
		data []byte
		want string
	}{
		{good, "verified integrity"},
		{change(t, good, "key_2026_04", "key_x"), "verified integrity"},
		{change(t, good, `"sig"`, `"note":1,"sig"`), "refuted integrity"},
		{signed(t, attest.PayloadType, change(t, payload(t, good), `"git commit"`, `"x"`), "key_2026_04"), "refuted integrity"},
	} {
		rep := d.judge(t, test.data)
		if got := rep.Verdict.String() + " " + rep.Scope.String(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	if last := d.judge(t, good).NotChecked; !strings.Contains(last[len(last)-1].Detail, "the signature of the attestation") {
		t.Errorf("%+v", last)
	}
}

// TestSign verifies that keys for other algorithms cannot sign envelopes, and that Sign stops
// waiting for a signer when the context ends.
func TestSign(t *testing.T) {
	s := statement(t, "valid/task.json", head)
	for _, name := range []string{"key_rs256", "key_ps256", "key_es384", "key_es512"} {
		if e, err := attest.Sign(context.Background(), s, keys.NewSigner(private(t, name), nil)); err == nil || !strings.Contains(err.Error(), "envelopes are signed with keys for ed25519, ES256, and ML-DSA-65") {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"key_second", "key_es256"} {
		if _, err := attest.Sign(ended, s, keys.NewSigner(private(t, name), time.Now)); err == nil {
			t.Errorf("%s signs for a caller that has gone", name)
		}
	}

	// Ed25519 signatures are deterministic, so the bundle is the same each time.
	if a, b := bundle(t, "valid/task.json", head, "key_second"), bundle(t, "valid/task.json", head, "key_second"); string(a) != string(b) {
		t.Errorf("two bundles:\n%s%s", a, b)
	}
}
