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

	"filippo.io/mldsa"
)

// A cosignature (C2SP tlog-cosignature) is the signature line of a witness on a checkpoint. It
// states that, at a given time, this was the largest consistent tree of that origin that the
// witness had observed. Its payload is the time, eight bytes big-endian in seconds since 1970,
// and a signature. An Ed25519 key (type 0x04) signs
//
//	cosignature/v1
//	time <seconds>
//	<the entire note text>
//
// An ML-DSA-44 key (type 0x06, FIPS 204) signs the message of [Witness.message]. Package
// golang.org/x/mod/sumdb/note only supports signatures of type 0x01.
const (
	cosignatureType = 0x04
	postQuantumType = 0x06
)

// A Witness verifies the cosignatures of one key, for Ed25519 or ML-DSA-44. It implements
// note.Verifier.
type Witness struct {
	name string
	hash uint32
	kind byte
	key  []byte
	post *mldsa.PublicKey // nil for Ed25519
}

// NewWitness returns the Witness with the given name and 32-byte Ed25519 public key.
func NewWitness(name string, key ed25519.PublicKey) (*Witness, error) {
	return newWitness(name, cosignatureType, key)
}

// NewPostQuantumWitness returns the Witness with the given name and 1,312-byte ML-DSA-44 public
// key.
func NewPostQuantumWitness(name string, key []byte) (*Witness, error) {
	return newWitness(name, postQuantumType, key)
}

func newWitness(name string, kind byte, key []byte) (w *Witness, err error) {
	w = &Witness{name: name, kind: kind, key: key}
	if kind == postQuantumType {
		if w.post, err = mldsa.NewPublicKey(mldsa.MLDSA44(), key); err != nil {
			return nil, fmt.Errorf("merkle: ML-DSA-44 public key of %d bytes: %w", len(key), err)
		}
		if len(name) > math.MaxUint8 { // the message has one byte for its length
			return nil, &NameError{name}
		}
	}
	if kind == cosignatureType && len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("merkle: public key has %d bytes, expected %d", len(key), ed25519.PublicKeySize)
	}
	if w.hash, err = keyHash(name, kind, key); err != nil {
		return nil, err
	}
	return w, nil
}

func validName(name string) bool {
	return name != "" && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsSpace) && !strings.Contains(name, "+")
}

// Name returns the name of the witness.
func (w *Witness) Name() string { return w.name }

// KeyHash returns the key id.
func (w *Witness) KeyHash() uint32 { return w.hash }

// Key returns the public key. Witnesses are counted by key, never by name.
func (w *Witness) Key() []byte { return w.key }

// String returns the verifier key of the witness.
func (w *Witness) String() string { return verifierKey(w.name, w.hash, w.kind, w.key) }

// Verify reports whether sig, a timestamp and a signature, is a cosignature of the witness for
// the note text msg.
func (w *Witness) Verify(msg, sig []byte) bool {
	if len(sig) < 8 {
		return false
	}
	seconds, signature := binary.BigEndian.Uint64(sig), sig[8:]
	message, ok := w.message(msg, seconds)
	switch {
	case !ok:
		return false
	case w.post != nil:
		return mldsa.Verify(w.post, message, signature, nil) == nil
	}
	return ed25519.Verify(w.key, message, signature)
}

// message returns the signed message for a note text and a time. For ML-DSA-44, it is
//
//	"subtree/v1" LF NUL
//	length of the name, name           one byte each for the lengths
//	time                               eight bytes big-endian, like the numbers below
//	length of the origin, origin
//	start (0), end (the size)
//	root hash
//
// Time 0 states nothing about other trees of the log, so it is not a cosignature of a witness.
func (w *Witness) message(text []byte, seconds uint64) ([]byte, bool) {
	if seconds > math.MaxInt64 {
		return nil, false
	}
	if w.post == nil {
		return append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", seconds), text...), true
	}

	c, err := ParseCheckpoint(string(text))
	if err != nil || len(c.Origin) > math.MaxUint8 || seconds == 0 {
		return nil, false
	}
	m := append([]byte("subtree/v1\n\x00"), byte(len(w.name)))
	m = append(m, w.name...)
	m = binary.BigEndian.AppendUint64(m, seconds)
	m = append(append(m, byte(len(c.Origin))), c.Origin...)
	m = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(m, 0), c.Size)
	return append(m, c.Root[:]...), true
}

// A Cosigner creates cosignatures with given times. A KMS may create the signatures.
type Cosigner struct {
	*Witness
	// SignMessage returns the Ed25519 or ML-DSA-44 signature of message.
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
	message, ok := c.message([]byte(text+"\n"), seconds)
	if !ok {
		return nil, errors.New("merkle: cosigning: the origin or the time does not fit into the message of an ML-DSA-44 cosignature")
	}
	signature, err := c.SignMessage(ctx, message)
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
