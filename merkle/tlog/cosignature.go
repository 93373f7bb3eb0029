package tlog

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Witness verifies the cosignatures of one key (C2SP tlog-cosignature). A cosignature is a
// signature line in a checkpoint. It states that, at the given time, the tree was the largest
// consistent tree with its origin that the witness had observed. A Witness implements
// note.Verifier.
type Witness struct{ noteKey }

// NewWitness returns a Witness with the given name and public key. The public key must be an
// ed25519.PublicKey or a *mldsa.PublicKey for ML-DSA-44.
func NewWitness(name string, public crypto.PublicKey) (*Witness, error) {
	k, err := newNoteKey(name, cosignatureType, public)
	if err != nil {
		return nil, err
	}
	return &Witness{*k}, nil
}

// A Cosigner creates cosignatures with a given time. A key management service can create the
// underlying signatures.
type Cosigner struct {
	*Witness
	// SignMessage returns an Ed25519 or ML-DSA-44 signature of message.
	SignMessage func(ctx context.Context, message []byte) ([]byte, error)
}

// Cosign adds a cosignature with the given time to a signed checkpoint. The caller must have
// verified that the log signed the checkpoint, and that its tree extends the last tree that was
// cosigned for its origin. Without these checks, a cosignature is meaningless.
func (c *Cosigner) Cosign(ctx context.Context, msg []byte, at time.Time) ([]byte, error) {
	text, _, found := strings.Cut(string(msg), "\n\n")
	if !found || at.Unix() <= 0 { // a cosignature with time 0 is not a statement about the tree
		return nil, errors.New("merkle: cosigning: expected a signed note and a time after the beginning of 1970")
	}
	if _, err := ParseCheckpoint(text + "\n"); err != nil {
		return nil, err
	}
	payload, err := c.sign(ctx, []byte(text+"\n"), uint64(at.Unix()), c.SignMessage)
	if err != nil {
		return nil, fmt.Errorf("merkle: cosigning: %w", err)
	}

	// The signature is preceded by the key ID, which has four bytes (C2SP signed-note).
	line := base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, c.hash), payload...))
	return fmt.Appendf(append([]byte(nil), msg...), "— %s %s\n", c.name, line), nil
}
