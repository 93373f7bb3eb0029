package keys

import (
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/receiptkit/receiptkit/merkle"
)

// SignCheckpoint signs a checkpoint of a log with its Ed25519 key; the origin of
// the checkpoint is the log's name. The result is a signed note. The text of a
// checkpoint has three lines or more, so it is never a receipt hash, the only
// other thing that keys sign.
//
// Which trees a log has signed is for the caller to know: see
// [merkle.LogSigner.SignCheckpoint].
func (k *PrivateKey) SignCheckpoint(ctx context.Context, c *merkle.Checkpoint) ([]byte, error) {
	key, ok := k.key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("keys: the key %s is for %s; checkpoints are signed with Ed25519 keys", quote(k.id), k.algorithm)
	}
	log, err := merkle.NewLog(c.Origin, key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	alg, _ := algorithmOf(Ed25519)
	s := merkle.LogSigner{Log: log, SignMessage: func(ctx context.Context, message []byte) ([]byte, error) {
		return signRaw(ctx, FromCryptoSigner(key), alg, message)
	}}
	return s.SignCheckpoint(ctx, c)
}
