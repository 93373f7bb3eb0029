package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/merkle/tlog"
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

// TestAttainable verifies that a quorum is attainable only with witnesses that have a URL and do not
// have the key of the log.
func TestAttainable(t *testing.T) {
	vkey := func(name, seed string) (*tlog.Log, *tlog.Witness) {
		private, err := keys.Generate(strings.NewReader(strings.Repeat(seed, 64)), keys.MLDSA44, "k")
		if err != nil {
			t.Fatal(err)
		}
		log, err := private.Public().Log(name)
		if err != nil {
			t.Fatal(err)
		}
		witness, err := private.Public().Witness(name)
		if err != nil {
			t.Fatal(err)
		}
		return log, witness
	}
	log, own := vkey("log.example", "l")
	_, other := vkey("w.example", "w")
	for lines, want := range map[string]bool{
		"quorum none":                 true,
		"quorum a":                    true,
		"quorum b":                    false,
		"quorum o":                    false,
		"group g any a b o\nquorum g": true,
		"group g 2 a b o\nquorum g":   false,
		"group h any b\ngroup g any a h\nquorum g": true,
		"group h any b\ngroup g all a h\nquorum g": false,
		"group h any a\ngroup g all h\nquorum g":   true,
		"group h any b o\ngroup g any h\nquorum g": false,
	} {
		_, third := vkey("b.example", "b")
		text := fmt.Sprintf("witness a %v http://127.0.0.1:1\nwitness b %v\nwitness o %v http://127.0.0.1:1\n%s\n", other, third, own, lines)
		policy, err := tlog.ParsePolicy([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := attainable(policy, log); got != want {
			t.Errorf("%q: %v", lines, got)
		}
	}
}

// TestServeFlags verifies that a log does not start if it could never publish a checkpoint.
func TestServeFlags(t *testing.T) {
	private, err := keys.Generate(strings.NewReader(strings.Repeat("s", 64)), keys.Ed25519, "k")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := private.For([]receipt.Role{receipt.RoleCheckpoint}, "log.example").MarshalPrivate()
	if err != nil {
		t.Fatal(err)
	}
	key := writeFile(t, "key", string(secret))
	policy := writeFile(t, "policy", "witness w w1.example.com+04f29dbe+BHePzpiqC67suVaU15Ty8VRrpe8OTBL9q4LlVn1U4GX1\nquorum w\n")
	for _, c := range []struct{ flag, value, want string }{
		{"--policy", policy, "the quorum can never be met"},
		{"--heartbeat", "0s", "must be positive"},
		{"--heartbeat", "-1s", "must be positive"},
	} {
		args := []string{"serve", "--dir", t.TempDir(), "--listen", "127.0.0.1:0", "--key", key, c.flag, c.value}
		if code, _, errs := command(t, args...); code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%s %s: exit %d, %s", c.flag, c.value, code, errs)
		}
	}
}
