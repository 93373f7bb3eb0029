package keys_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func TestSignCheckpoint(t *testing.T) {
	for _, algorithm := range []string{keys.Ed25519, "EdDSA", keys.MLDSA44} {
		k, err := keys.Generate(rand.Reader, algorithm, "log_1")
		if err != nil {
			t.Fatal(err)
		}
		c := &tlog.Checkpoint{Origin: "example.com/log", Size: 3, Root: merkle.LeafHash(nil)}
		msg, err := keys.NewSigner(k, nil).SignCheckpoint(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		log, err := k.Public().Log(c.Origin)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tlog.OpenSigned(msg, []*tlog.Log{log}, nil); err != nil || len(got.Logs) != 1 || got.String() != c.String() {
			t.Errorf("%s: opened as %v: %v", algorithm, got, err)
		}
	}
}

func TestSignCheckpointRefuses(t *testing.T) {
	ec, err := keys.Generate(rand.Reader, "ES256", "ec")
	if err != nil {
		t.Fatal(err)
	}
	c := &tlog.Checkpoint{Origin: "example.com/log", Size: 1}
	if _, err := keys.NewSigner(ec, nil).SignCheckpoint(context.Background(), c); err == nil || !strings.Contains(err.Error(), "ES256, but checkpoints are signed with keys for ed25519 and ML-DSA-44") {
		t.Errorf("an EC key: %v", err)
	}
	k, err := keys.Generate(rand.Reader, keys.Ed25519, "log_1")
	if err != nil {
		t.Fatal(err)
	}
	for _, origin := range []string{"", "a b", "a+b", "a\nb"} {
		c.Origin = origin
		if msg, err := keys.NewSigner(k, nil).SignCheckpoint(context.Background(), c); err == nil || msg != nil {
			t.Errorf("origin %q: signed %q, %v", origin, msg, err)
		}
	}
}

// TestCosign verifies that a witness's key creates cosignatures with the witness's name, and that
// the private key file specifies the key's purpose.
func TestCosign(t *testing.T) {
	log, err := keys.Generate(rand.Reader, keys.Ed25519, "log")
	if err != nil {
		t.Fatal(err)
	}
	private, err := keys.Generate(rand.Reader, keys.Ed25519, "w1")
	if err != nil {
		t.Fatal(err)
	}
	file, err := private.For([]receipt.Role{receipt.RoleWitness}, "witness.example").MarshalPrivate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParsePrivate(file)
	if err != nil || !key.Public().Has(receipt.RoleWitness) || key.Public().Has(receipt.RoleIssuer) || key.Public().Origin != "witness.example" {
		t.Fatalf("%v: %s", err, file)
	}
	if private.Public().Has(receipt.RoleWitness) {
		t.Error("For changed the key")
	}
	note, err := keys.NewSigner(log, nil).SignCheckpoint(t.Context(), &tlog.Checkpoint{Origin: "log.example", Root: merkle.EmptyRoot()})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1777144653, 0).UTC()
	cosigned, err := keys.NewSigner(key, nil).Cosign(t.Context(), "witness.example", note, at)
	if err != nil {
		t.Fatal(err)
	}
	w, err := key.Public().Witness("witness.example")
	if err != nil {
		t.Fatal(err)
	}
	signed, err := tlog.OpenSigned(cosigned, nil, []*tlog.Witness{w})
	if err != nil || len(signed.Cosignatures) != 1 || !signed.Cosignatures[0].At.Equal(at) {
		t.Errorf("%v: %v", signed, err)
	}
	other, err := keys.Generate(rand.Reader, "ES256", "es")
	if err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() ([]byte, error){
		"another algorithm": func() ([]byte, error) { return keys.NewSigner(other, nil).Cosign(t.Context(), "w", note, at) },
		"no name of a note": func() ([]byte, error) { return keys.NewSigner(key, nil).Cosign(t.Context(), "a b", note, at) },
		"no checkpoint": func() ([]byte, error) {
			return keys.NewSigner(key, nil).Cosign(t.Context(), "w", []byte("x\n\n— w x\n"), at)
		},
		"before 1970": func() ([]byte, error) {
			return keys.NewSigner(key, nil).Cosign(t.Context(), "w", note, time.Unix(-1, 0))
		},
	} {
		if got, err := try(); got != nil || err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}
