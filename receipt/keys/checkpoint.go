package keys

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// SignCheckpoint signs a checkpoint of a log with its Ed25519 key. The origin of the checkpoint
// is the name of the log. The result is a signed note. The text of a checkpoint has at least
// three lines, so it is never a receipt hash.
//
// The caller must track which trees a log has signed: see [tlog.LogSigner.SignCheckpoint].
func (k *PrivateKey) SignCheckpoint(ctx context.Context, c *tlog.Checkpoint) ([]byte, error) {
	key, ok := k.key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("keys: key %s is for %s, but checkpoints are signed with Ed25519 keys", quote(k.public.ID), k.algorithm)
	}
	log, err := tlog.NewLog(c.Origin, key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	s := tlog.LogSigner{Log: log, SignMessage: signMessage(key)}
	return s.SignCheckpoint(ctx, c)
}

// Cosign adds the cosignature of a witness (cosignature/v1), with its name and the time, to a
// signed checkpoint. It does not check who signed the checkpoint or which tree it extends: see
// [tlog.Cosigner.Cosign].
func (k *PrivateKey) Cosign(ctx context.Context, name string, checkpoint []byte, at time.Time) ([]byte, error) {
	key, ok := k.key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("keys: key %s is for %s, but checkpoints are cosigned with Ed25519 keys", quote(k.public.ID), k.algorithm)
	}
	witness, err := tlog.NewWitness(name, key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	s := tlog.Cosigner{Witness: witness, SignMessage: signMessage(key)}
	return s.Cosign(ctx, checkpoint, at)
}

func signMessage(key ed25519.PrivateKey) func(context.Context, []byte) ([]byte, error) {
	alg, _ := algorithmOf(Ed25519)
	return func(ctx context.Context, message []byte) ([]byte, error) {
		return signRaw(ctx, local(key), alg, message)
	}
}
