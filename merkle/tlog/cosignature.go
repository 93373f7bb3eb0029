package tlog

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A cosignature (C2SP tlog-cosignature, cosignature/v1) is the signature line of a witness on a
// checkpoint. It states that, at a given time, this was the largest consistent tree of that
// origin that the witness had observed. Its payload is the time, eight bytes big-endian in
// seconds since 1970, and an Ed25519 signature of
//
//	cosignature/v1
//	time <seconds>
//	<the entire note text>
//
// golang.org/x/mod/sumdb/note only supports signatures of type 0x01. This type is 0x04.
const cosignatureType = 0x04

const cosignatureBytes = 8 + ed25519.SignatureSize

// A Witness verifies the cosignatures of one key. It implements note.Verifier.
type Witness struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

// NewWitness returns the Witness with the given name and 32-byte public key.
func NewWitness(name string, key ed25519.PublicKey) (*Witness, error) {
	hash, err := keyHash(name, cosignatureType, key)
	if err != nil {
		return nil, err
	}
	return &Witness{name, hash, key}, nil
}

func validName(name string) bool {
	return name != "" && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsSpace) && !strings.Contains(name, "+")
}

// Name returns the name of the witness.
func (w *Witness) Name() string { return w.name }

// KeyHash returns the key id.
func (w *Witness) KeyHash() uint32 { return w.hash }

// Key returns the public key. Witnesses are counted by key, never by name.
func (w *Witness) Key() ed25519.PublicKey { return w.key }

// Verify reports whether sig, a timestamp and a signature, is a cosignature of the witness for
// the note text msg.
func (w *Witness) Verify(msg, sig []byte) bool {
	if len(sig) != cosignatureBytes {
		return false
	}
	seconds := binary.BigEndian.Uint64(sig)
	return seconds <= math.MaxInt64 && ed25519.Verify(w.key, cosigned(msg, seconds), sig[8:])
}

func cosigned(text []byte, seconds uint64) []byte {
	return append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", seconds), text...)
}

// A Cosigner creates cosignatures with given times. A KMS may create the signatures.
type Cosigner struct {
	*Witness
	// SignMessage returns the Ed25519 signature of message.
	SignMessage func(ctx context.Context, message []byte) ([]byte, error)
}

// Cosign adds a cosignature with the given time to a signed checkpoint. The caller must have
// verified that the checkpoint was signed by the log, and that its tree extends the last tree
// cosigned for its origin. Without these checks, a witness witnesses nothing.
func (c *Cosigner) Cosign(ctx context.Context, msg []byte, at time.Time) ([]byte, error) {
	text, _, found := strings.Cut(string(msg), "\n\n")
	if !found || at.Unix() < 0 {
		return nil, errors.New("merkle: cosigning: expected a signed note and a time in 1970 or later")
	}
	if _, err := ParseCheckpoint(text + "\n"); err != nil {
		return nil, err
	}

	// C2SP tlog-cosignature: the signature covers the time.
	seconds := uint64(at.Unix())
	signature, err := c.SignMessage(ctx, cosigned([]byte(text+"\n"), seconds))
	if err != nil {
		return nil, fmt.Errorf("merkle: cosigning: %w", err)
	}

	payload := append(binary.BigEndian.AppendUint64(nil, seconds), signature...)
	if !c.Verify([]byte(text+"\n"), payload) { // signed by another key, or damaged
		return nil, errors.New("merkle: cosigning: signer returned a signature that the witness's key does not verify")
	}

	// C2SP signed-note: the key ID, four bytes, precedes the signature.
	line := base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, c.hash), payload...))
	return fmt.Appendf(append([]byte(nil), msg...), "— %s %s\n", c.name, line), nil
}
