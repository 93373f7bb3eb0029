package keys

import (
	"context"
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// Log returns the key as that of the log with the given origin.
func (k *PublicKey) Log(origin string) (*tlog.Log, error) {
	if err := k.signsNotes(); err != nil {
		return nil, err
	}
	return tlog.NewLog(origin, k.material)
}

// Witness returns the key as that of the witness with the given name.
func (k *PublicKey) Witness(name string) (*tlog.Witness, error) {
	if err := k.signsNotes(); err != nil {
		return nil, err
	}
	return tlog.NewWitness(name, k.material)
}

func (k *PublicKey) signsNotes() error {
	if k.Algorithm != Ed25519 && k.Algorithm != MLDSA44 {
		return fmt.Errorf("key %s is for %s, but checkpoints are signed with keys for %s and %s", quote(k.ID), k.Algorithm, Ed25519, MLDSA44)
	}
	return nil
}

// SignCheckpoint signs a checkpoint of a log with its key for Ed25519 or ML-DSA-44. The origin of
// the checkpoint is the name of the log. The result is a signed note. The text of a checkpoint has
// at least three lines, so it is never a receipt hash.
//
// The caller must track which trees a log has signed: see [tlog.LogSigner.SignCheckpoint].
func (s *Signer) SignCheckpoint(ctx context.Context, c *tlog.Checkpoint) ([]byte, error) {
	log, err := s.public.Log(c.Origin)
	if err != nil {
		return nil, err
	}
	return (&tlog.LogSigner{Log: log, SignMessage: s.signNote}).SignCheckpoint(ctx, c)
}

// Cosign adds the cosignature of a witness, with its name and the time, to a signed checkpoint. It
// does not check who signed the checkpoint or which tree it extends: see [tlog.Cosigner.Cosign].
func (s *Signer) Cosign(ctx context.Context, name string, checkpoint []byte, at time.Time) ([]byte, error) {
	witness, err := s.public.Witness(name)
	if err != nil {
		return nil, err
	}
	return (&tlog.Cosigner{Witness: witness, SignMessage: s.signNote}).Cosign(ctx, checkpoint, at)
}

// signNote signs the message itself. Package tlog verifies the signature.
func (s *Signer) signNote(ctx context.Context, message []byte) ([]byte, error) {
	return signRaw(ctx, s.raw, algorithm{}, message)
}
