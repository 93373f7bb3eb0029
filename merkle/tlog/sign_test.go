package tlog

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/merkle"
)

func testSigner(t *testing.T, origin string) *LogSigner {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	log, err := NewLog(origin, key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return &LogSigner{log, func(_ context.Context, msg []byte) ([]byte, error) { return ed25519.Sign(key, msg), nil }}
}

func TestSignCheckpoint(t *testing.T) {
	s := testSigner(t, "example.com/log")
	c := &Checkpoint{Origin: "example.com/log", Size: 1, Root: merkle.LeafHash(nil)}
	msg, err := s.SignCheckpoint(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := OpenSigned(msg, []*Log{s.Log}, nil)
	if err != nil || opened.String() != c.String() || len(opened.Logs) != 1 {
		t.Errorf("opened as %v: %v", opened, err)
	}
	if again, err := note.Open(msg, note.VerifierList(s.Log)); err != nil || again.Text != c.String() {
		t.Errorf("opened as %v: %v", again, err)
	}
}

func TestSignCheckpointRefuses(t *testing.T) {
	const origin = "example.com/log"
	for name, c := range map[string]*Checkpoint{
		"another origin":     {Origin: "example.com/other", Size: 1},
		"an empty tree":      {Origin: origin},
		"a line break":       {Origin: origin, Size: 1, Extensions: []string{"a\nb", ""}},
		"a control in it":    {Origin: origin, Size: 1, Extensions: []string{"a\x00"}},
		"an empty extension": {Origin: origin, Size: 1, Extensions: []string{""}},
	} {
		if msg, err := testSigner(t, origin).SignCheckpoint(context.Background(), c); err == nil || msg != nil {
			t.Errorf("%s: signed %q, %v", name, msg, err)
		}
	}
	c := &Checkpoint{Origin: origin, Size: 1}
	wrong := testSigner(t, origin)
	wrong.SignMessage = func(context.Context, []byte) ([]byte, error) { return make([]byte, 64), nil }
	if _, err := wrong.SignCheckpoint(context.Background(), c); err == nil || !strings.Contains(err.Error(), "the key of \"example.com/log\" does not verify") {
		t.Errorf("a service with another key: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := testSigner(t, origin).SignCheckpoint(ended, c); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}
