package receipt

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/redact"
)

// TestNoteFault verifies how a fault of a checkpoint is described.
func TestNoteFault(t *testing.T) {
	for want, err := range map[string]error{
		"checkpoint: malformed":                                           &tlog.CheckpointError{Detail: "malformed"},
		"checkpoint, line 2: malformed":                                   fmt.Errorf("opening: %w", &tlog.CheckpointError{Line: 2, Detail: "malformed"}),
		`checkpoint: the signature of "log" (key id 0000000a) is invalid`: &tlog.SignatureError{Name: "log", KeyHash: 10},
		"no space": errors.New("no space"),
	} {
		if got := noteFault(err); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}

// TestCompared verifies that evidence with anything besides the result of a comparison is
// recognized.
func TestCompared(t *testing.T) {
	if (&Evidence{}).compared() || !(&Evidence{Checkpoint: new(Checkpoint)}).compared() || !(&Evidence{Uncompared: "a"}).compared() {
		t.Error("only the result of a comparison")
	}
	for i, e := range []Evidence{{Proofs: make([]*tlog.Proof, 1)}, {Batches: make([]Batch, 1)}, {Timestamps: make([]Timestamp, 1)}, {Materials: noMaterials{}}, {Disclosures: make([]*redact.Disclosures, 1)}} {
		if e.Uncompared = "a"; e.compared() {
			t.Errorf("%d: compared", i)
		}
	}
}

type noMaterials struct{ Materials }

// TestSameTree verifies that two checkpoints describe the same tree only if all of their claims are
// equal.
func TestSameTree(t *testing.T) {
	claims := tlog.Checkpoint{Origin: "o", Size: 3, Root: merkle.Hash{1}}
	for name, c := range map[string]struct {
		other tlog.Checkpoint
		want  bool
	}{
		"same":   {claims, true},
		"origin": {tlog.Checkpoint{Origin: "p", Size: 3, Root: merkle.Hash{1}}, false},
		"size":   {tlog.Checkpoint{Origin: "o", Size: 4, Root: merkle.Hash{1}}, false},
		"root":   {tlog.Checkpoint{Origin: "o", Size: 3, Root: merkle.Hash{2}}, false},
	} {
		if got := (&checkpoint{claims: claims}).sameTree(&checkpoint{claims: c.other}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestSignedBy verifies that a log has signed a checkpoint with a key only if the key has the role
// and the name of the log, and made one of the signatures.
func TestSignedBy(t *testing.T) {
	public := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public()
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)).Public()
	log, err := tlog.NewLog("o", public)
	if err != nil {
		t.Fatal(err)
	}
	signed := &tlog.Signed{Checkpoint: tlog.Checkpoint{Origin: "o"}, Logs: []*tlog.Log{log}}
	logs := []Role{RoleCheckpoint}
	for name, c := range map[string]struct {
		key  NoteKey
		want bool
	}{
		"the log":      {NoteKey{&Key{Roles: logs, Origin: "o"}, public}, true},
		"another role": {NoteKey{&Key{Roles: []Role{RoleWitness}, Origin: "o"}, public}, false},
		"another name": {NoteKey{&Key{Roles: logs, Origin: "p"}, public}, false},
		"another key":  {NoteKey{&Key{Roles: logs, Origin: "o"}, other}, false},
	} {
		if got := signedBy(&c.key, signed); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
