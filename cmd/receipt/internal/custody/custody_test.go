package custody_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
	"github.com/receiptkit/receiptkit/fixtures/keyservice"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// TestMain runs the plugin if the program was started under the plugin's name.
func TestMain(m *testing.M) {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "sigstore-kms-") {
		keyservice.Plugin()
		return
	}
	log.SetOutput(io.Discard) // agents log the reasons for refusals
	os.Exit(m.Run())
}

const hash = "sha256:cf33bfcb36ec5c146e7e083d23b73cb7ccd5db142d9ba0b06d1bb0f70d0bbfc6"

// environment returns an environment that contains only the given variables.
func environment(t *testing.T, variables map[string]string) *cli.Env {
	t.Helper()
	e := &cli.Env{
		In: strings.NewReader(""), Out: new(bytes.Buffer), Err: new(bytes.Buffer),
		Getenv: func(name string) string { return variables[name] },
		Now:    func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) },
	}
	t.Cleanup(e.End)
	return e
}

// check creates each kind of signature with a key, and verifies the signatures with only the public
// key.
func check(t *testing.T, key *keys.Signer) {
	t.Helper()
	sig, err := key.Sign(t.Context(), []byte(hash))
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.NewSet(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	e := receipt.Entry{KeyID: []byte(sig.KeyID), Algorithm: []byte(sig.Algorithm), Signature: []byte(sig.Signature), SignedAt: []byte(sig.SignedAt.String())}
	if _, err := set.CheckSignature([]byte(hash), &e); err != nil || sig.Algorithm != key.Public().Algorithm || sig.KeyID != key.Public().ID {
		t.Errorf("%+v: %v", sig, err)
	}

	note, err := key.SignCheckpoint(t.Context(), &tlog.Checkpoint{Origin: "log.example/x", Size: 1, Root: merkle.LeafHash(nil)})
	if key.Public().Algorithm != keys.Ed25519 {
		if err == nil || !strings.HasSuffix(err.Error(), ", but checkpoints are signed with keys for ed25519 and ML-DSA-44") || note != nil {
			t.Errorf("%s, %v", note, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if note, err = key.Cosign(t.Context(), "witness.example/x", note, time.Unix(1777777777, 0)); err != nil || bytes.Count(note, []byte("\n— ")) != 2 {
		t.Errorf("%s, %v", note, err)
	}
}

// open opens a key, and fails the test if the key cannot be opened.
func open(t *testing.T, e *cli.Env, name string, patience time.Duration) *keys.Signer {
	t.Helper()
	key, err := custody.Open(t.Context(), e, name, custody.Options{Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// signing returns the error from a signing attempt, and fails the test if a signature is returned.
func signing(ctx context.Context, t *testing.T, key *keys.Signer) string {
	t.Helper()
	sig, err := key.Sign(ctx, []byte(hash))
	if err == nil || sig != (receipt.Signature{}) {
		t.Errorf("a bad service made %+v, %v", sig, err)
		return ""
	}
	note, err2 := key.SignCheckpoint(ctx, &tlog.Checkpoint{Origin: "log.example/x", Size: 1, Root: merkle.LeafHash(nil)})
	if err2 == nil || note != nil {
		t.Errorf("a bad service made the checkpoint %q, %v", note, err2)
	}
	return err.Error()
}

// refused explains why a key was not opened, and checks that the exit code is 2.
func refused(ctx context.Context, t *testing.T, e *cli.Env, name string, patience time.Duration) string {
	t.Helper()
	key, err := custody.Open(ctx, e, name, custody.Options{Patience: patience})
	var f *cli.Failure
	if key != nil || !errors.As(err, &f) || f.Code != cli.ExitUsage {
		t.Errorf("%s: opened %v, %v", name, key, err)
		return ""
	}
	return f.Error()
}

// TestPatience verifies that a timeout of zero or less is rejected.
func TestPatience(t *testing.T) {
	for _, patience := range []time.Duration{0, -time.Second} {
		if why := refused(t.Context(), t, environment(t, nil), "agent:SHA256:x", patience); !strings.HasPrefix(why, "--key-timeout must be more than 0, found ") {
			t.Error(why)
		}
	}
}
