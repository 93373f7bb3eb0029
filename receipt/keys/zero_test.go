package keys_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// TestZeroKeys verifies that zero keys and signers return errors instead of panicking. An issuer
// signs in a goroutine, so a panic would end the program.
func TestZeroKeys(t *testing.T) {
	ctx, hash := t.Context(), []byte(canon.Sum(nil).String())
	for name, s := range map[string]*keys.Signer{"zero": new(keys.Signer), "of a zero key": keys.NewSigner(new(keys.PrivateKey), time.Now)} {
		results := map[string]error{}
		_, results["Sign"] = s.Sign(ctx, hash)
		_, results["SignObject"] = s.SignObject(ctx, []byte("{}"))
		_, results["SignCOSE"] = s.SignCOSE(ctx, []byte("x"))
		_, results["SignCheckpoint"] = s.SignCheckpoint(ctx, &tlog.Checkpoint{Origin: "log"})
		_, results["Cosign"] = s.Cosign(ctx, "witness", nil, time.Now())
		for method, err := range results {
			if err == nil || !strings.Contains(err.Error(), "empty") {
				t.Errorf("%s signer: %s returns %v", name, method, err)
			}
		}
		if text := fmt.Sprintf("%v %+v %s", s, *s, s.Public().ID); strings.Contains(text, "PANIC") {
			t.Errorf("%s signer: %s", name, text)
		}
	}
	if text := fmt.Sprintf("%v %s", new(keys.PrivateKey), new(keys.PrivateKey).For(nil, "").Public().ID); strings.Contains(text, "PANIC") {
		t.Error(text)
	}

	for name, add := range map[string]func(k *keys.PublicKey) error{
		"NewSet":   func(k *keys.PublicKey) error { _, err := keys.NewSet(k); return err },
		"File.Add": func(k *keys.PublicKey) error { return new(keys.File).Add(k) },
		"Set.With": func(k *keys.PublicKey) error { _, err := new(keys.Set).With(k); return err },
	} {
		for _, k := range []*keys.PublicKey{nil, new(keys.PublicKey)} {
			if err := add(k); !errors.As(err, new(*keys.SetError)) {
				t.Errorf("%s of an empty key: %v, expected a *SetError", name, err)
			}
		}
	}
}
