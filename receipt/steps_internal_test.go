package receipt

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/redact"
)

// TestLimitOfCaller verifies that a document is undecided only if it exceeds a lower limit of the
// caller, and not if it is invalid or exceeds a limit of the format.
func TestLimitOfCaller(t *testing.T) {
	v, err := NewVerifier(nil, Policy{IntegrityOnly: true, Limits: canon.Limits{Bytes: 1000, Depth: 5}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]Verdict{
		"{":                             Refuted,
		`{"a":1,"a":2}`:                 Refuted,
		strings.Repeat(" ", 999) + "{}": Undecided,
		strings.Repeat("[", 6):          Undecided,
		strings.Repeat(" ", MaxBytes+1): Refuted,
	} {
		var rep Report
		v.VerifyBytes([]byte(text), new(canon.Document), &rep)
		if rep.Verdict != want {
			t.Errorf("%.20q, %d bytes: %v %s, expected %v", text, len(text), rep.Verdict, rep.Finding().Code, want)
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

// TestTimeContradicted verifies that a receipt is refuted if it existed before its time of issue,
// unless the source did not report that time.
func TestTimeContradicted(t *testing.T) {
	existed := time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]Code{
		`{"issued_at":"2026-04-25T12:00:00Z"}`:                                           "",
		`{"issued_at":"2026-04-25T12:01:00Z"}`:                                           "",
		`{"issued_at":"2026-04-25T12:01:01Z"}`:                                           CodeTimeContradicted,
		`{"issued_at":"2026-04-25T12:01:01Z","metadata":{"unreported":["/cost/total"]}}`: CodeTimeContradicted,
		`{"issued_at":"2026-04-25T12:01:01Z","metadata":{"unreported":["/issued_at"]}}`:  "",
	} {
		doc, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		rep := &Report{ReceiptHash: canon.Sum(nil)}
		rep.Existed.Time = At(existed)
		step := batchStep{new(Verifier)}
		if step.date(doc.Root(), rep); rep.Check(StepBatch).Code != want {
			t.Errorf("%s: %+v", text, rep.Checks)
		}
	}
}

// TestReplayNotReported verifies that no reason is missing if the source did not report the
// members about it.
func TestReplayNotReported(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"determinism":"unavailable"}`))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]int{"/cost": 1, "/replay_input/determinism": 0, "/replay_input/unavailable_reason": 0} {
		rep := new(Report)
		says := claims{untold: Pointers{pointer}}
		if lintReplay(doc.Root(), says, rep); len(rep.Warnings) != want {
			t.Errorf("%s: %v", pointer, rep.Warnings)
		}
	}
}

// TestTimeJSON verifies that only a string in quotation marks is a time.
func TestTimeJSON(t *testing.T) {
	const text = "2026-04-25T19:17:33Z"
	for data, want := range map[string]bool{`"` + text + `"`: true, text: false, `"` + text: false, `"` + text + "x": false, "x" + text + `"`: false, `"`: false, "": false} {
		if err := new(Time).UnmarshalJSON([]byte(data)); (err == nil) != want {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// TestDecodeInline verifies that only one encoding of the same bytes is accepted.
func TestDecodeInline(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "AA==": true, "AAA=": true, "AAAA": true, "AAAAAA==": true,
		"AB==": false, "AAB=": false, "AA=A": false, "A===": false, "AAA": false, "AA": false, "????": false, "AA\n==": false, "AAAA\n": false, "AAAA\r\n\r\n": false, "AA==AAAA": false, "AAAA====": false,
	} {
		if content, ok := decodeInline(new(Report), []byte(text)); ok != want {
			t.Errorf("%q: %t, %x", text, ok, content)
		}
	}
}

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
