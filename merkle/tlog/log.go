package tlog

import (
	"context"
	"crypto"
	"fmt"

	"golang.org/x/mod/sumdb/note"
)

// A Log verifies the signatures of one of a log's keys. It implements note.Verifier.
type Log struct{ noteKey }

// NewLog returns the Log with the given origin, which is also the name of its key, and the given
// public key: an ed25519.PublicKey or a *mldsa.PublicKey for ML-DSA-44.
func NewLog(origin string, public crypto.PublicKey) (*Log, error) {
	k, err := newNoteKey(origin, logType, public)
	if err != nil {
		return nil, err
	}
	return &Log{*k}, nil
}

// A LogSigner signs checkpoints with one of a log's keys. The signatures may be created by a KMS.
type LogSigner struct {
	*Log
	// SignMessage returns the Ed25519 or ML-DSA-44 signature over message.
	SignMessage func(ctx context.Context, message []byte) ([]byte, error)
}

// SignCheckpoint returns c as a signed note. An ML-DSA-44 signature has the time 0. The caller must
// have verified that the tree extends the last tree that the log signed. Two signed trees, neither
// of which extends the other, are evidence that the log misbehaves.
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

// A noteSigner is a LogSigner with the context for one signature.
type noteSigner struct {
	*LogSigner
	ctx context.Context
}

// Sign implements note.Signer.
func (s *noteSigner) Sign(text []byte) ([]byte, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	return s.sign(s.ctx, text, 0, s.SignMessage)
}
