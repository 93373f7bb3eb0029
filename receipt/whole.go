package receipt

import (
	"cmp"

	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Checkpoint is a signed checkpoint over receipts, opened with the keys of a
// verifier. Package stream compares it with the receipts of an input.
type Checkpoint struct{ opened *checkpoint }

// OpenCheckpoint opens a signed note (C2SP tlog-checkpoint) with the keys of the
// verifier's trust when that is a [LogTrust]. A false checkpoint is no error: see
// [Checkpoint.Fault].
func (v *Verifier) OpenCheckpoint(note []byte) *Checkpoint {
	return &Checkpoint{v.noteKeys().open(note)}
}

// Claims returns the text of the checkpoint. It is zero, and ok is false, when
// the note holds none that can be read.
func (c *Checkpoint) Claims() (claims tlog.Checkpoint, ok bool) {
	return c.opened.claims, c.opened.readable
}

// Fault says what is false or malformed; "" when nothing is. Whether a trusted
// log signed is another question, which the reports answer.
func (c *Checkpoint) Fault() string { return c.opened.fault }

// Signed reports whether a trusted key of its log signed the checkpoint, and
// nothing in it is false.
func (c *Checkpoint) Signed() bool { return c.opened.fault == "" && len(c.opened.logs) > 0 }

// Within returns a copy of v for receipts that the caller has shown to be leaves
// of the checkpoint's tree, by computing its root over all of them. It replaces
// an inclusion proof for each.
func (v *Verifier) Within(c *Checkpoint) *Verifier {
	w := *v
	w.evidence.proofs = append([]proof{{checkpoint: c.opened, whole: true}}, v.evidence.proofs...)
	refuteForks(w.evidence.proofs)
	return &w
}

// Outside returns a copy of v for receipts of which a checkpoint was given, but
// could not be compared with them: they are left undecided, for the reason why.
func (v *Verifier) Outside(why string) *Verifier {
	w := *v
	w.evidence.outside = cmp.Or(why, "the checkpoint could not be compared with the receipts")
	return &w
}
