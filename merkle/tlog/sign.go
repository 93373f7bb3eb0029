package tlog

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
)

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
