package keys_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func TestSignCheckpoint(t *testing.T) {
	for _, algorithm := range []string{keys.Ed25519, keys.EdDSA} {
		k, err := keys.Generate(rand.Reader, algorithm, "log_1")
		if err != nil {
			t.Fatal(err)
		}
		c := &merkle.Checkpoint{Origin: "example.com/log", Size: 3, Root: merkle.LeafHash(nil)}
		msg, err := k.SignCheckpoint(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		log, err := merkle.NewLog(c.Origin, k.Public().Crypto().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := merkle.OpenCheckpoint(msg, log); err != nil || got.String() != c.String() {
			t.Errorf("%s: opened as %v: %v", algorithm, got, err)
		}
	}
}

func TestSignCheckpointRefuses(t *testing.T) {
	ec, err := keys.Generate(rand.Reader, keys.ES256, "ec")
	if err != nil {
		t.Fatal(err)
	}
	c := &merkle.Checkpoint{Origin: "example.com/log", Size: 1}
	if _, err := ec.SignCheckpoint(context.Background(), c); err == nil || !strings.Contains(err.Error(), "ES256; checkpoints are signed with Ed25519 keys") {
		t.Errorf("an EC key: %v", err)
	}
	k, err := keys.Generate(rand.Reader, keys.Ed25519, "log_1")
	if err != nil {
		t.Fatal(err)
	}
	for _, origin := range []string{"", "a b", "a+b", "a\nb"} {
		c.Origin = origin
		if msg, err := k.SignCheckpoint(context.Background(), c); err == nil || msg != nil {
			t.Errorf("origin %q: signed %q, %v", origin, msg, err)
		}
	}
}
