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

// A cosignature (C2SP tlog-cosignature, cosignature/v1) is a witness's signature
// line on a checkpoint. It says that at a time this was the largest consistent
// tree that the witness had seen of that origin. Its payload is the time, eight
// bytes big-endian in seconds since 1970, and an Ed25519 signature of
//
//	cosignature/v1
//	time <seconds>
//	<the whole note text>
//
// golang.org/x/mod/sumdb/note knows the type 0x01 of signatures only; this is
// 0x04.
const cosignatureType = 0x04

const cosignatureBytes = 8 + ed25519.SignatureSize

// A Witness verifies the cosignatures of one key. It is a note.Verifier.
type Witness struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

// NewWitness returns a Witness by its name and its 32-byte public key.
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

// Key returns the public key. Witnesses are counted by it, never by name.
func (w *Witness) Key() ed25519.PublicKey { return w.key }

// Verify reports whether sig, a timestamp and a signature, is the witness's
// over the note text msg.
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

// A Cosigner makes cosignatures: the time is its own, the signature may come from
// a KMS.
type Cosigner struct {
	*Witness
	// SignMessage returns the Ed25519 signature of message.
	SignMessage func(ctx context.Context, message []byte) ([]byte, error)
}

// Cosign adds a cosignature of the given time to a signed checkpoint. The caller
// has to have made sure that the checkpoint is the log's and that its tree
// extends the last one cosigned for its origin: a witness that does not is not a
// witness.
func (c *Cosigner) Cosign(ctx context.Context, msg []byte, at time.Time) ([]byte, error) {
	text, _, found := strings.Cut(string(msg), "\n\n")
	if !found || at.Unix() < 0 {
		return nil, errors.New("merkle: cosign: expected a signed note and a time from 1970 on")
	}
	if _, err := ParseCheckpoint(text + "\n"); err != nil {
		return nil, err
	}

	// C2SP tlog-cosignature: the time is part of what is signed.
	seconds := uint64(at.Unix())
	signature, err := c.SignMessage(ctx, cosigned([]byte(text+"\n"), seconds))
	if err != nil {
		return nil, fmt.Errorf("merkle: cosign: %w", err)
	}

	payload := append(binary.BigEndian.AppendUint64(nil, seconds), signature...)
	if !c.Verify([]byte(text+"\n"), payload) { // another key's, or damaged
		return nil, errors.New("merkle: cosign: the signer's result is not a signature of the witness's key")
	}

	// C2SP signed-note: the key id, four bytes, comes before the signature.
	line := base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, c.hash), payload...))
	return fmt.Appendf(append([]byte(nil), msg...), "— %s %s\n", c.name, line), nil
}
