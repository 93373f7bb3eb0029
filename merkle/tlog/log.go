package tlog

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
)

// logSignatureType is the type of an Ed25519 signature of the text of a note, the only type
// that golang.org/x/mod/sumdb/note supports.
const logSignatureType = 0x01

// A Log verifies the signatures of one key of a log. It implements note.Verifier.
type Log struct {
	origin string
	hash   uint32
	key    ed25519.PublicKey
}

// A NameError indicates that a name is not valid for a note key, because it is empty or
// contains a space or a plus (C2SP signed-note).
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("merkle: the name %.80q of a note key is empty, or has a space or a plus", e.Name)
}

// NewLog returns the Log with the given origin, which is also the name of its key, and 32-byte
// public key.
func NewLog(origin string, key ed25519.PublicKey) (*Log, error) {
	if len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("merkle: public key has %d bytes, expected %d", len(key), ed25519.PublicKeySize)
	}
	hash, err := keyHash(origin, logSignatureType, key)
	if err != nil {
		return nil, err
	}
	return &Log{origin, hash, key}, nil
}

// Name returns the origin.
func (l *Log) Name() string { return l.origin }

// KeyHash returns the key ID.
func (l *Log) KeyHash() uint32 { return l.hash }

// Key returns the public key.
func (l *Log) Key() []byte { return l.key }

// Verify reports whether sig is a signature of the log for the note text msg.
func (l *Log) Verify(msg, sig []byte) bool { return ed25519.Verify(l.key, msg, sig) }

// String returns the verifier key of the log.
func (l *Log) String() string { return verifierKey(l.origin, l.hash, logSignatureType, l.key) }

// keyHash returns the key ID of a note key: the first four bytes of SHA-256(name ‖ LF ‖ type ‖
// public key).
func keyHash(name string, kind byte, key []byte) (uint32, error) {
	if !validName(name) {
		return 0, &NameError{name}
	}
	sum := sha256.Sum256(append(append([]byte(name), '\n', kind), key...))
	return binary.BigEndian.Uint32(sum[:]), nil
}

// A LogSigner signs checkpoints with one key of a log. A KMS may create the signatures.
type LogSigner struct {
	*Log
	// SignMessage returns the Ed25519 signature of message.
	SignMessage func(ctx context.Context, message []byte) ([]byte, error)
}

// SignCheckpoint returns c as a signed note. The caller must have verified that the tree
// extends the last tree that the log signed. Two signed trees of which neither extends the
// other are evidence that the log lies.
func (s *LogSigner) SignCheckpoint(ctx context.Context, c *Checkpoint) ([]byte, error) {
	text := c.String()
	if parsed, err := ParseCheckpoint(text); err != nil {
		return nil, err
	} else if parsed.Origin != s.Name() {
		return nil, &CheckpointError{1, fmt.Sprintf("expected the origin %q, the log's name, found %.80q", s.Name(), c.Origin)}
	}
	msg, err := note.Sign(&note.Note{Text: text}, &noteSigner{s, ctx})
	if err != nil {
		return nil, fmt.Errorf("merkle: signing checkpoint: %w", err)
	}
	return msg, nil
}

// A noteSigner is a LogSigner for one signature.
type noteSigner struct {
	*LogSigner
	ctx context.Context
}

// Sign implements note.Signer.
func (s *noteSigner) Sign(text []byte) ([]byte, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	signature, err := s.SignMessage(s.ctx, text)
	if err != nil {
		return nil, err
	}
	if !s.Verify(text, signature) { // signed by another key, or damaged
		return nil, errors.New("signer returned a signature that the log's key does not verify")
	}
	return signature, nil
}
