package receipt

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Checkpoint is the result of opening a signed checkpoint with a verifier's keys. Package stream
// compares a Checkpoint with the receipts in an input. If the receipts are the leaves of the
// checkpoint's tree, package stream passes the checkpoint on as [Evidence].
type Checkpoint struct {
	Claims   tlog.Checkpoint // content of the checkpoint; zero if it is not readable
	Readable bool            // the text is a checkpoint
	Fault    string          // describes why the checkpoint is invalid or malformed; "" if it is not
	Signed   bool            // a trusted key of the log has signed the checkpoint, and no part of the checkpoint is invalid

	opened *checkpoint
}

// A checkpoint is a piece of evidence that has been opened. Each checkpoint is opened only once,
// for all receipts.
type checkpoint struct {
	claims     tlog.Checkpoint // zero if the text is not a checkpoint
	text       canon.Digest    // SHA-256 digest of the text
	readable   bool            // the text is a checkpoint
	fault      string          // describes why the checkpoint is invalid or malformed; "" if it is not
	logs       []*Key          // keys of its origin that have signed it; empty if no trusted log has signed it
	cosigned   []cosignature   // cosignatures of eligible witnesses, some of which may not count for a particular receipt
	discounted []string        // reasons why other cosignatures do not count
	unknown    string          // lists the signature lines of unknown keys
	about      string          // describes the log, the size, the signers, and the cosigners
}

// sameTree reports whether two checkpoints describe the same tree, regardless of their signatures.
func (c *checkpoint) sameTree(other *checkpoint) bool {
	return c.claims.Origin == other.claims.Origin && c.claims.Size == other.claims.Size && c.claims.Root == other.claims.Root
}

// A cosignature records that an eligible witness cosigned a checkpoint. The key of the witness must
// have the role witness, be admitted by the policy, have been valid at the time in the cosignature,
// and have key material that differs from the log's.
type cosignature struct {
	witness *Key
	at      time.Time
}

// noteKeys contains the keys of a Trust that can sign notes, grouped by use.
type noteKeys struct {
	logs      []*tlog.Log
	witnesses []*tlog.Witness
	byLog     map[*tlog.Log]*Key
	byWitness map[*tlog.Witness]*Key
	rule      *CheckpointRule
}

// newNoteKeys returns the keys in t if t is a [LogTrust], and no keys otherwise.
func newNoteKeys(t Trust, rule *CheckpointRule) *noteKeys {
	k := &noteKeys{byLog: map[*tlog.Log]*Key{}, byWitness: map[*tlog.Witness]*Key{}, rule: rule}
	logs, ok := t.(LogTrust)
	if !ok {
		return k
	}

	for _, key := range logs.NoteKeys() {
		k.add(key)
	}
	return k
}

func (k *noteKeys) add(key NoteKey) {
	counts := len(k.rule.Logs) == 0 || slices.Contains(k.rule.Logs, key.ID)
	if log := key.log(); counts && log != nil {
		k.logs, k.byLog[log] = append(k.logs, log), key.Key
	}
	if key.Has(RoleWitness) {
		if witness, err := key.witness(); err == nil {
			k.witnesses, k.byWitness[witness] = append(k.witnesses, witness), key.Key
		}
	}
}

func (k *noteKeys) open(note []byte) *checkpoint {
	// Signature lines of unknown keys are ignored (C2SP signed-note). An invalid line of a known
	// key makes the entire note invalid.
	signed, err := tlog.OpenSigned(note, k.logs, k.witnesses)
	if err != nil {
		c := &checkpoint{fault: noteFault(err)}
		var falsified *tlog.SignatureError
		if errors.As(err, &falsified) {
			c.claims, c.readable = falsified.Checkpoint, true
		}
		return c
	}

	c := &checkpoint{claims: signed.Checkpoint, text: canon.Sum([]byte(signed.String())), readable: true, unknown: unknownLines(signed)}
	for _, log := range signed.Logs {
		c.logs = append(c.logs, k.byLog[log])
	}

	// Each cosignature covers the checkpoint and the time in the cosignature (C2SP
	// tlog-cosignature).
	for _, s := range signed.Cosignatures {
		k.weigh(c, k.byWitness[s.Witness], s.At)
	}
	c.about = c.describe()
	return c
}

// openProofs opens the checkpoint of each proof.
func (k *noteKeys) openProofs(given []*tlog.Proof) []proof {
	if len(given) == 0 {
		return nil
	}

	opened := map[string]*checkpoint{}
	proofs := make([]proof, len(given))

	// Proofs from the same log usually share a checkpoint, so its signatures are checked only once.
	for i, p := range given {
		c := opened[string(p.Checkpoint)]
		if c == nil {
			c = k.open(p.Checkpoint)
			opened[string(p.Checkpoint)] = c
		}
		proofs[i] = proof{given: i, index: p.Index, path: slices.Clone(p.Hashes), checkpoint: c}
	}

	// It cannot be determined which of the two proofs is wrong, so both refute the receipt.
	refuteForks(proofs)
	return proofs
}

// describe returns the description of the checkpoint, which is computed only once for all receipts
// that the checkpoint includes.
func (c *checkpoint) describe() string {
	text := fmt.Sprintf("in the log %s of size %d", quoted(excerpt([]byte(c.claims.Origin))), c.claims.Size)
	for i, key := range c.logs {
		text += [...]string{", signed by ", ", "}[min(i, 1)] + quoted(key.ID)
	}
	for i := range c.cosigned {
		text += [...]string{", cosigned by ", ", "}[min(i, 1)] + quoted(c.cosigned[i].witness.ID) + " at " + c.cosigned[i].at.UTC().Format(time.RFC3339)
	}
	return text
}

// noteFault describes the first part of a checkpoint that is invalid or malformed.
func noteFault(err error) string {
	var falsified *tlog.SignatureError
	var malformed *tlog.CheckpointError
	switch {
	case errors.As(err, &falsified):
		return fmt.Sprintf("checkpoint: the signature of %q (key id %08x) is invalid", falsified.Name, falsified.KeyHash)
	case errors.As(err, &malformed) && malformed.Line > 0:
		return fmt.Sprintf("checkpoint, line %d: %s", malformed.Line, malformed.Detail)
	case errors.As(err, &malformed):
		return "checkpoint: " + malformed.Detail
	}
	return err.Error()
}

// weigh adds a cosignature to the list of those that count, or records why it does not count. A
// cosignature with a stolen key never counts, because the thief can put any time into it.
func (k *noteKeys) weigh(c *checkpoint, witness *Key, at time.Time) {
	why := ""
	switch code := untimely(witness, at, false); {
	case k.isLogs(c.claims.Origin, witness):
		why = quoted(witness.ID) + " has the key material of the log"
	case !k.rule.Cosigners.admits(witness.ID):
		why = quoted(witness.ID) + " is not one of the cosigners that the policy names"
	case code != "":
		why = timeText(witness, code, At(at).String())
	default:
		c.cosigned = append(c.cosigned, cosignature{witness, at})
		return
	}
	c.discounted = append(c.discounted, why)
}

// Witnessed returns the earliest time by which enough witnesses had cosigned a checkpoint: at least
// one, and as many as the policy requires. The time is zero if too few have cosigned it, or if
// c.Signed is false. A witness with the key material of an issuer does not count. external reports
// whether the log has signed the checkpoint with trusted keys, none of which has the material of an
// issuer.
func (v *Verifier) Witnessed(c *Checkpoint) (at time.Time, external bool) {
	if !c.Signed || c.opened == nil {
		return at, false
	}
	issuers := kinOf(v.trust)
	external = !slices.ContainsFunc(c.opened.logs, func(k *Key) bool { return len(issuers[k.Thumbprint]) > 0 })

	// A key is counted only once, at its earliest time.
	list := slices.SortedStableFunc(slices.Values(c.opened.cosigned), func(a, b cosignature) int { return a.at.Compare(b.at) })
	var ids []string
	counted := map[[32]byte]bool{}
	for _, s := range list {
		if len(issuers[s.witness.Thumbprint]) > 0 || counted[s.witness.Thumbprint] {
			continue
		}
		counted[s.witness.Thumbprint] = true
		if ids = append(ids, s.witness.ID); v.policy.Checkpoint.Cosigners.met(ids) {
			return s.at, external
		}
	}
	return at, external
}

// isLogs reports whether a witness has the same key material as a trusted key of the log, including
// keys that have not signed.
func (k *noteKeys) isLogs(origin string, witness *Key) bool {
	for _, key := range k.byLog {
		if key.Origin == origin && key.Thumbprint == witness.Thumbprint {
			return true
		}
	}
	return false
}

func unknownLines(s *tlog.Signed) string {
	if len(s.Unknown) == 0 {
		return ""
	}
	return fmt.Sprintf("the checkpoint of %s also carries signatures of %s, which no trusted key can check",
		quoted(excerpt([]byte(s.Origin))), quotedList(s.Unknown))
}

// refuteForks marks checkpoints of a log as invalid if they show two different trees of the same
// size. One of the two trees is wrong, but it cannot be determined which one. The checkpoints are
// copied before they are marked, because other verifiers may use them.
func refuteForks(proofs []proof) {
	type place struct {
		origin string
		size   uint64
	}

	roots, forked := map[place]merkle.Hash{}, map[place]bool{}
	each := func(do func(p *proof, at place)) {
		for i := range proofs {
			if c := proofs[i].checkpoint; len(c.logs) > 0 {
				do(&proofs[i], place{c.claims.Origin, c.claims.Size})
			}
		}
	}

	// All roots are collected first, so that the order of the checkpoints does not matter.
	each(func(p *proof, at place) {
		root := p.checkpoint.claims.Root
		if other, seen := roots[at]; seen && root != other {
			forked[at] = true
		}
		roots[at] = root
	})

	each(func(p *proof, at place) {
		if forked[at] {
			c := *p.checkpoint
			c.fault = fmt.Sprintf("the log %s signed two different trees of size %d", quoted(excerpt([]byte(at.origin))), at.size)
			p.checkpoint = &c
		}
	})
}

// A Growth states whether a log has only appended receipts between two of its checkpoints.
type Growth struct {
	Verdict Verdict

	// Code is the reason why the verdict is not "verified": CodeTruncated, CodeMerkleRootMismatch,
	// CodeProofInvalid, CodeKeyRevoked, or CodeUnknownKey.
	Code Code

	// Later reports that Code is about the later checkpoint: either no signature on it counts, or
	// the proof does not result in its tree.
	Later bool

	// Err is the error from merkle.CheckConsistency if the proof is for these two trees but is
	// invalid.
	Err error

	// Signers are the keys with which the log signed the earlier and the later checkpoint, in that
	// order. A key is nil if no signature on the checkpoint counts.
	Signers [2]*Key

	// Revoked is the revoked key if Code is CodeKeyRevoked, and nil otherwise.
	Revoked *Key
}

// CheckGrowth checks a proof that a log has only grown between the checkpoints "from" and "to".
// Both must be checkpoints of the same log. They must have been opened with the trusted keys of the
// log, and all of their signatures by these keys must be valid. If no trusted key has signed the
// checkpoints, a proof proves nothing about a log, so the result is undecided. If the checkpoints
// contradict each other, the result is refuted regardless of the proof, which may then be nil.
func CheckGrowth(trust LogTrust, from, to *tlog.Signed, proof *tlog.Extension) *Growth {
	g := &Growth{Verdict: Refuted}
	g.compare(from, to, proof)

	// Signatures matter only if the trees are consistent, because a contradiction refutes
	// regardless of who signed.
	for i, c := range []*tlog.Signed{from, to} {
		key, code := CheckpointSigner(trust, c)
		switch {
		case code == "":
			g.Signers[i] = key
		case g.Verdict == Refuted:
		case code == CodeKeyRevoked: // even if the other checkpoint has no signature
			g.Verdict, g.Code, g.Later, g.Revoked = Refuted, code, i == 1, key
		case g.Verdict == Verified:
			g.Verdict, g.Code, g.Later = Undecided, code, i == 1
		}
	}
	return g
}

// compare compares the proof with the two trees. The result is refuted unless all values match.
func (g *Growth) compare(from, to *tlog.Signed, x *tlog.Extension) {
	if g.Code = Contradiction(&from.Checkpoint, &to.Checkpoint); g.Code != "" {
		return
	}

	// The proof must refer to these two trees.
	g.Code = CodeProofInvalid
	if x == nil || x.Size1 != from.Size || x.Root1 != from.Root {
		return
	}
	if x.Size2 != to.Size || x.Root2 != to.Root {
		g.Later = true
		return
	}

	// The consistency proof is verified as specified in RFC 9162 section 2.1.4.2.
	if g.Err = x.Check(); g.Err == nil {
		g.Verdict, g.Code = Verified, ""
	}
}

// Contradiction returns the code for a contradiction between two checkpoints of a log:
// CodeTruncated if the later tree is smaller (because a log never shrinks), or
// CodeMerkleRootMismatch if two trees of the same size differ. It returns "" if both checkpoints
// may be correct.
func Contradiction(from, to *tlog.Checkpoint) Code {
	switch {
	case from.Size > to.Size:
		return CodeTruncated
	case from.Size == to.Size && from.Root != to.Root:
		return CodeMerkleRootMismatch
	}
	return ""
}

// CheckpointSigner returns the trusted key with which the log has signed a checkpoint, and an empty
// code. If all such keys are revoked, and not merely superseded, it returns one of them and
// CodeKeyRevoked. If no trusted key has signed the checkpoint, it returns nil and CodeUnknownKey. A
// checkpoint contains no time, so a signature with a stolen key never counts, and the validity
// period of a key is not checked.
func CheckpointSigner(trust LogTrust, c *tlog.Signed) (*Key, Code) {
	var revoked *Key
	// A log may have rotated its keys, so it is sufficient if one signature counts.
	for _, k := range trust.NoteKeys() {
		switch {
		case !signedBy(&k, c):
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

// signedBy reports whether the log has signed a checkpoint with the given key.
func signedBy(k *NoteKey, c *tlog.Signed) bool {
	return k.Has(RoleCheckpoint) && k.Origin == c.Origin &&
		slices.ContainsFunc(c.Logs, func(l *tlog.Log) bool { return l.HasKey(k.Public) })
}

// Logs returns the trusted keys of logs.
func Logs(trust LogTrust) (logs []*tlog.Log) {
	for _, k := range trust.NoteKeys() {
		if log := k.log(); log != nil {
			logs = append(logs, log)
		}
	}
	return logs
}
