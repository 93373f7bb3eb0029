package tlog

import (
	"context"
	"crypto"
	"fmt"

	"golang.org/x/mod/sumdb/note"
)

// A Log verifies signatures by one of a log's keys. It implements note.Verifier.
type Log struct{ noteKey }

// NewLog returns a Log with the given origin and public key. The origin is also the name of the
// key. The public key must be an ed25519.PublicKey or a *mldsa.PublicKey for ML-DSA-44.
func NewLog(origin string, public crypto.PublicKey) (*Log, error) {
	k, err := newNoteKey(origin, logType, public)
	if err != nil {
		return nil, err
	}
	return &Log{*k}, nil
}

// A LogSigner signs checkpoints with one of a log's keys. A key management service can create the
// underlying signatures.
type LogSigner struct {
	*Log
	// SignMessage returns an Ed25519 or ML-DSA-44 signature of message.
	SignMessage func(ctx context.Context, message []byte) ([]byte, error)
}

// SignCheckpoint returns c as a signed note. With ML-DSA-44, the signature has the time 0. The
// caller must have verified that the tree extends the last tree that the log has signed. If a log
// signs two trees, neither of which extends the other, the signatures are evidence of its
// misbehavior.
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

// A noteSigner is a LogSigner, together with the context for a single signature.
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
