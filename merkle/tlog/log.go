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

// logSignatureType is that of an Ed25519 signature over the text of a note, the
// only one that golang.org/x/mod/sumdb/note knows.
const logSignatureType = 0x01

// A Log verifies the signatures of one key of a log. It is a note.Verifier.
type Log struct {
	origin string
	hash   uint32
	key    ed25519.PublicKey
}

// A NameError says that no note key can have a name: it is empty, or has a space or a
// plus (C2SP signed-note).
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("merkle: the name %.80q of a note key is empty, or has a space or a plus", e.Name)
}

// NewLog returns a Log by its origin, which is the name of its key too, and its
// 32-byte public key.
func NewLog(origin string, key ed25519.PublicKey) (*Log, error) {
	hash, err := keyHash(origin, logSignatureType, key)
	if err != nil {
		return nil, err
	}
	return &Log{origin, hash, key}, nil
}

// Name returns the origin.
func (l *Log) Name() string { return l.origin }

// KeyHash returns the key id.
func (l *Log) KeyHash() uint32 { return l.hash }

// Key returns the public key.
func (l *Log) Key() ed25519.PublicKey { return l.key }

// Verify reports whether sig is the log's over the note text msg.
func (l *Log) Verify(msg, sig []byte) bool { return ed25519.Verify(l.key, msg, sig) }

// keyHash returns the key id of a note key: the first four bytes of
// SHA-256(name ‖ LF ‖ type ‖ public key).
func keyHash(name string, kind byte, key ed25519.PublicKey) (uint32, error) {
	if !validName(name) {
		return 0, &NameError{name}
	}
	if len(key) != ed25519.PublicKeySize {
		return 0, fmt.Errorf("merkle: a public key of %d bytes, expected %d", len(key), ed25519.PublicKeySize)
	}
	sum := sha256.Sum256(append(append([]byte(name), '\n', kind), key...))
	return binary.BigEndian.Uint32(sum[:]), nil
}

// A LogSigner signs checkpoints with one key of a log. The signature may come
// from a KMS.
type LogSigner struct {
	*Log
	// SignMessage returns the Ed25519 signature of message.
	SignMessage func(ctx context.Context, message []byte) ([]byte, error)
}

// SignCheckpoint returns c as a signed note. The caller has to have made sure
// that the tree extends the last one that the log signed: two trees of which
// neither extends the other prove that the log lies.
func (s *LogSigner) SignCheckpoint(ctx context.Context, c *Checkpoint) ([]byte, error) {
	text := c.String()
	if parsed, err := ParseCheckpoint(text); err != nil {
		return nil, err
	} else if parsed.Origin != s.Name() {
		return nil, &CheckpointError{1, fmt.Sprintf("expected the origin %q, the log's name, found %.80q", s.Name(), c.Origin)}
	}
	msg, err := note.Sign(&note.Note{Text: text}, &noteSigner{s, ctx})
	if err != nil {
		return nil, fmt.Errorf("merkle: sign checkpoint: %w", err)
	}
	return msg, nil
}

// A noteSigner is a LogSigner during one signature.
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
	if !s.Verify(text, signature) { // another key's, or damaged
		return nil, errors.New("the signer's result is not a signature of the log's key")
	}
	return signature, nil
}
