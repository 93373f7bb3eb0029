package main

import (
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// TestServeKey verifies that a log refuses to start with a key that is not a log key. A witness key
// with the same material would otherwise create signatures that contradict the log's signatures.
func TestServeKey(t *testing.T) {
	for name, c := range map[string]struct {
		algorithm string
		roles     []receipt.Role
		origin    string
		flags     []string
		want      string
	}{
		"witness":        {keys.MLDSA44, []receipt.Role{receipt.RoleWitness}, "log.example", nil, "expected a key with the role checkpoint"},
		"issuer":         {keys.Ed25519, nil, "log.example", nil, "expected a key with the role checkpoint"},
		"no name":        {keys.Ed25519, []receipt.Role{receipt.RoleCheckpoint}, "", nil, "missing --origin NAME"},
		"another name":   {keys.Ed25519, []receipt.Role{receipt.RoleCheckpoint}, "log.example", []string{"--origin", "other.example"}, "is the key of the log"},
		"no checkpoints": {"ML-DSA-65", []receipt.Role{receipt.RoleCheckpoint}, "log.example", nil, "checkpoints are signed with keys for"},
	} {
		t.Run(name, func(t *testing.T) {
			private, err := keys.Generate(strings.NewReader(strings.Repeat("s", 64)), c.algorithm, "k")
			if err != nil {
				t.Fatal(err)
			}
			secret, err := private.For(c.roles, c.origin).MarshalPrivate()
			if err != nil {
				t.Fatal(err)
			}
			args := append([]string{"serve", "--dir", t.TempDir(), "--listen", "127.0.0.1:0", "--key", writeFile(t, "key", string(secret))}, c.flags...)
			if code, _, errs := command(t, args...); code == 0 || !strings.Contains(errs, c.want) {
				t.Errorf("exit %d, %s", code, errs)
			}
		})
	}
}
