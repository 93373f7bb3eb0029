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

// A Witness verifies cosignatures by one key (C2SP tlog-cosignature). A cosignature is a signature
// line on a checkpoint. It states that, at the given time, this was the largest consistent tree
// with that origin that the witness had observed. A Witness implements note.Verifier.
type Witness struct{ noteKey }

// NewWitness returns the Witness with the given name and public key: an ed25519.PublicKey or a
// *mldsa.PublicKey for ML-DSA-44.
func NewWitness(name string, public crypto.PublicKey) (*Witness, error) {
	k, err := newNoteKey(name, cosignatureType, public)
	if err != nil {
		return nil, err
	}
	return &Witness{*k}, nil
}

// A Cosigner creates cosignatures with given times. The signatures may be created by a KMS.
type Cosigner struct {
	*Witness
	// SignMessage returns the Ed25519 or ML-DSA-44 signature over message.
	SignMessage func(ctx context.Context, message []byte) ([]byte, error)
}

// Cosign adds a cosignature with the given time to a signed checkpoint. The caller must have
// verified that the checkpoint was signed by the log, and that its tree extends the last tree
// cosigned for its origin. Without these checks, a cosignature is meaningless.
func (c *Cosigner) Cosign(ctx context.Context, msg []byte, at time.Time) ([]byte, error) {
	text, _, found := strings.Cut(string(msg), "\n\n")
	if !found || at.Unix() <= 0 { // a cosignature with time 0 states nothing
		return nil, errors.New("merkle: cosigning: expected a signed note and a time after the beginning of 1970")
	}
	if _, err := ParseCheckpoint(text + "\n"); err != nil {
		return nil, err
	}
	payload, err := c.sign(ctx, []byte(text+"\n"), uint64(at.Unix()), c.SignMessage)
	if err != nil {
		return nil, fmt.Errorf("merkle: cosigning: %w", err)
	}

	// C2SP signed-note: the key ID, four bytes, precedes the signature.
	line := base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, c.hash), payload...))
	return fmt.Appendf(append([]byte(nil), msg...), "— %s %s\n", c.name, line), nil
}
