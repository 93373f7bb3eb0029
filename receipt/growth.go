package receipt

import (
	"slices"

	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Growth says whether a log only added to its receipts between two of its
// checkpoints.
type Growth struct {
	Verdict Verdict

	// Code is why it is not verified: CodeTruncated, CodeMerkleRootMismatch,
	// CodeProofInvalid, CodeKeyRevoked or CodeUnknownKey.
	Code Code

	// Later says that Code is of the later checkpoint: nobody signed that one, or
	// it is another tree than the one that the proof is to.
	Later bool

	// Err is what CheckConsistency of package merkle says of a proof that is of
	// these trees, and is false.
	Err error

	// Signers are the keys by which the log signed the earlier and the later
	// checkpoint; nil when none of them counts.
	Signers [2]*Key

	// Revoked is the key that CodeKeyRevoked is of.
	Revoked *Key
}

// CheckGrowth judges the proof that the checkpoint to extends from. Both are of one
// log and were opened with its keys of trust, so that no signature in them is false.
// A proof between checkpoints that no trusted key signed shows nothing of a log: that
// is undecided. Two checkpoints that contradict each other are refuted, whatever the
// proof; of these alone the proof may be nil.
func CheckGrowth(trust LogTrust, from, to *tlog.Signed, proof *tlog.Extension) *Growth {
	g := &Growth{Verdict: Refuted}
	g.compare(from, to, proof)

	for i, c := range []*tlog.Signed{from, to} {
		key, code := LogSigner(trust, c)
		switch {
		case code == "":
			g.Signers[i] = key
		case g.Verdict == Refuted:
		case code == CodeKeyRevoked: // also beside one that nobody signed
			g.Verdict, g.Code, g.Later, g.Revoked = Refuted, code, i == 1, key
		case g.Verdict == Verified:
			g.Verdict, g.Code, g.Later = Undecided, code, i == 1
		}
	}
	return g
}

// compare compares the proof with the trees. It is refuted until all of it agrees.
func (g *Growth) compare(from, to *tlog.Signed, x *tlog.Extension) {
	if g.Code = Contradiction(&from.Checkpoint, &to.Checkpoint); g.Code != "" {
		return
	}

	// The proof has to be about these two trees.
	g.Code = CodeProofInvalid
	if x == nil || x.Size1 != from.Size || x.Root1 != from.Root {
		return
	}
	if x.Size2 != to.Size || x.Root2 != to.Root {
		g.Later = true
		return
	}

	// RFC 9162 section 2.1.4.2.
	if g.Err = x.Check(); g.Err == nil {
		g.Verdict, g.Code = Verified, ""
	}
}

// Contradiction says in what two checkpoints of one log contradict each other, from
// being the earlier one: CodeTruncated, since a log never shrinks, or
// CodeMerkleRootMismatch for two trees of one size; "" when they may both be true.
func Contradiction(from, to *tlog.Checkpoint) Code {
	switch {
	case from.Size > to.Size:
		return CodeTruncated
	case from.Size == to.Size && from.Root != to.Root:
		return CodeMerkleRootMismatch
	}
	return ""
}

// LogSigner returns the key of trust by which the log signed a checkpoint, and "",
// or why none counts: CodeUnknownKey, or CodeKeyRevoked and that key. A checkpoint
// states no time, so a key that was stolen never counts, and its validity is not
// judged.
func LogSigner(trust LogTrust, c *tlog.Signed) (*Key, Code) {
	var revoked *Key
	for _, k := range trust.NoteKeys() {
		switch {
		case !k.signed(c):
		case !k.stolen():
			return k.Key, ""
		default:
			revoked = k.Key
		}
	}

	if revoked != nil {
		return revoked, CodeKeyRevoked
	}
	return nil, CodeUnknownKey
}

// signed reports whether the log signed a checkpoint by the key.
func (k NoteKey) signed(c *tlog.Signed) bool {
	return k.Has(RoleCheckpoint) && k.Origin == c.Origin &&
		slices.ContainsFunc(c.Logs, func(l *tlog.Log) bool { return l.Key().Equal(k.Public) })
}

// stolen reports whether a key was revoked for another reason than that there is a
// newer one: what it signed at any time may be somebody else's.
func (k *Key) stolen() bool { return k.Revoked != nil && k.Revoked.Reason != ReasonSuperseded }
