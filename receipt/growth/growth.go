// Package growth judges whether a log only added to its receipts between two of its
// checkpoints, and by which trusted key it signed one. It decides what
// `receipt batch consistency --check` prints.
//
// This package may still change: it is not of the frozen core.
package growth

import (
	"slices"

	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Result says whether a log only added to its receipts between two of its
// checkpoints.
type Result struct {
	Verdict receipt.Verdict

	// Code is why it is not verified: CodeTruncated, CodeMerkleRootMismatch,
	// CodeProofInvalid, CodeKeyRevoked or CodeUnknownKey.
	Code receipt.Code

	// Later says that Code is of the later checkpoint: nobody signed that one, or
	// it is another tree than the one that the proof is to.
	Later bool

	// Err is what CheckConsistency of package merkle says of a proof that is of
	// these trees, and is false.
	Err error

	// Signers are the keys by which the log signed the earlier and the later
	// checkpoint; nil when none of them counts.
	Signers [2]*receipt.Key

	// Revoked is the key that CodeKeyRevoked is of.
	Revoked *receipt.Key
}

// Check judges the proof that the checkpoint to extends from. Both are of one
// log and were opened with its keys of trust, so that no signature in them is false.
// A proof between checkpoints that no trusted key signed shows nothing of a log: that
// is undecided. Two checkpoints that contradict each other are refuted, whatever the
// proof; of these alone the proof may be nil.
func Check(trust receipt.LogTrust, from, to *tlog.Signed, proof *tlog.Extension) *Result {
	g := &Result{Verdict: receipt.Refuted}
	g.compare(from, to, proof)

	for i, c := range []*tlog.Signed{from, to} {
		key, code := Signer(trust, c)
		switch {
		case code == "":
			g.Signers[i] = key
		case g.Verdict == receipt.Refuted:
		case code == receipt.CodeKeyRevoked: // also beside one that nobody signed
			g.Verdict, g.Code, g.Later, g.Revoked = receipt.Refuted, code, i == 1, key
		case g.Verdict == receipt.Verified:
			g.Verdict, g.Code, g.Later = receipt.Undecided, code, i == 1
		}
	}
	return g
}

// compare compares the proof with the trees. It is refuted until all of it agrees.
func (g *Result) compare(from, to *tlog.Signed, x *tlog.Extension) {
	if g.Code = Contradiction(&from.Checkpoint, &to.Checkpoint); g.Code != "" {
		return
	}

	// The proof has to be about these two trees.
	g.Code = receipt.CodeProofInvalid
	if x == nil || x.Size1 != from.Size || x.Root1 != from.Root {
		return
	}
	if x.Size2 != to.Size || x.Root2 != to.Root {
		g.Later = true
		return
	}

	// RFC 9162 section 2.1.4.2.
	if g.Err = x.Check(); g.Err == nil {
		g.Verdict, g.Code = receipt.Verified, ""
	}
}

// Contradiction says in what two checkpoints of one log contradict each other, from
// being the earlier one: CodeTruncated, since a log never shrinks, or
// CodeMerkleRootMismatch for two trees of one size; "" when they may both be true.
func Contradiction(from, to *tlog.Checkpoint) receipt.Code {
	switch {
	case from.Size > to.Size:
		return receipt.CodeTruncated
	case from.Size == to.Size && from.Root != to.Root:
		return receipt.CodeMerkleRootMismatch
	}
	return ""
}

// Signer returns the key of trust by which the log signed a checkpoint, and "",
// or why none counts: CodeUnknownKey, or CodeKeyRevoked and that key. A checkpoint
// states no time, so a key that was stolen never counts, and its validity is not
// judged.
func Signer(trust receipt.LogTrust, c *tlog.Signed) (*receipt.Key, receipt.Code) {
	var revoked *receipt.Key
	for _, k := range trust.NoteKeys() {
		switch {
		case !signed(&k, c):
		case !stolen(k.Key):
			return k.Key, ""
		default:
			revoked = k.Key
		}
	}

	if revoked != nil {
		return revoked, receipt.CodeKeyRevoked
	}
	return nil, receipt.CodeUnknownKey
}

// signed reports whether the log signed a checkpoint by the key.
func signed(k *receipt.NoteKey, c *tlog.Signed) bool {
	return k.Has(receipt.RoleCheckpoint) && k.Origin == c.Origin &&
		slices.ContainsFunc(c.Logs, func(l *tlog.Log) bool { return l.Key().Equal(k.Public) })
}

// stolen reports whether a key was revoked for another reason than that there is a
// newer one: what it signed at any time may be somebody else's.
func stolen(k *receipt.Key) bool {
	return k.Revoked != nil && k.Revoked.Reason != receipt.ReasonSuperseded
}
