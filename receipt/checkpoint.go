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

// A Checkpoint is a signed checkpoint that covers receipts, opened with the keys of a verifier.
// Package stream compares the checkpoint with the receipts of an input. If the receipts are its
// leaves, stream passes the checkpoint on as [Evidence].
type Checkpoint struct {
	Claims   tlog.Checkpoint // its text; zero if the note contains no readable text
	Readable bool            // whether the text is readable
	Fault    string          // describes the part that is invalid or malformed, or ""
	Signed   bool            // a trusted key of its log signed the checkpoint, and no part of it is invalid

	opened *checkpoint
}

// A checkpoint is an opened checkpoint of the evidence. Each checkpoint is opened only once for all
// receipts.
type checkpoint struct {
	claims     tlog.Checkpoint // zero if the text is not a checkpoint
	text       canon.Digest    // SHA-256 of the text
	readable   bool            // the text is a checkpoint
	fault      string          // why it is invalid or malformed, or ""
	logs       []*Key          // keys of its origin that signed it; if empty, no trusted log did
	cosigned   []cosignature   // cosignatures by eligible witnesses; the receipt may rule out some of them
	discounted []string        // why the other cosignatures do not count
	unknown    string          // lists the lines signed by unknown keys
	about      string          // states the log, the size, the signers, and the cosigners
}

// sameTree reports whether two checkpoints have the same content, regardless of their signatures.
func (c *checkpoint) sameTree(other *checkpoint) bool {
	return c.claims.Origin == other.claims.Origin && c.claims.Size == other.claims.Size && c.claims.Root == other.claims.Root
}

// A cosignature is made by an eligible witness, that is, by a witness key that has the role, is
// admitted, was valid at the stated time, and shares no key material with the log.
type cosignature struct {
	witness *Key
	at      time.Time
}

// noteKeys holds a Trust's keys that can sign notes, grouped by use.
type noteKeys struct {
	logs      []*tlog.Log
	witnesses []*tlog.Witness
	byLog     map[*tlog.Log]*Key
	byWitness map[*tlog.Witness]*Key
	rule      *CheckpointRule
}

// newNoteKeys returns the keys of t if it is a [LogTrust]; otherwise, it returns no keys.
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
	// C2SP signed-note: lines signed by unknown keys are ignored. An invalid line from a known key
	// makes the entire note invalid.
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

	// C2SP tlog-cosignature: each cosignature covers the checkpoint and the time that it states.
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

	// Proofs from one log usually share a checkpoint, so the signatures of each checkpoint are
	// checked only once.
	for i, p := range given {
		c := opened[string(p.Checkpoint)]
		if c == nil {
			c = k.open(p.Checkpoint)
			opened[string(p.Checkpoint)] = c
		}
		proofs[i] = proof{given: i, index: p.Index, path: slices.Clone(p.Hashes), checkpoint: c}
	}

	// It is impossible to determine which of the two proofs is wrong, so both refute.
	refuteForks(proofs)
	return proofs
}

// describe returns the checkpoint's description, which is computed once for all receipts that the
// checkpoint includes.
func (c *checkpoint) describe() string {
	text := fmt.Sprintf("in the log %s of %d receipts", quoted(excerpt([]byte(c.claims.Origin))), c.claims.Size)
	for i, key := range c.logs {
		text += [...]string{", signed by ", ", "}[min(i, 1)] + quoted(key.ID)
	}
	for i := range c.cosigned {
		text += [...]string{", cosigned by ", ", "}[min(i, 1)] + quoted(c.cosigned[i].witness.ID)
	}
	return text
}

// noteFault describes the first invalid or malformed part of a checkpoint.
func noteFault(err error) string {
	var falsified *tlog.SignatureError
	var malformed *tlog.CheckpointError
	switch {
	case errors.As(err, &falsified):
		return fmt.Sprintf("checkpoint: the signature of %q (key id %08x) is false", falsified.Name, falsified.KeyHash)
	case errors.As(err, &malformed) && malformed.Line > 0:
		return fmt.Sprintf("checkpoint, line %d: %s", malformed.Line, malformed.Detail)
	case errors.As(err, &malformed):
		return "checkpoint: " + malformed.Detail
	}
	return err.Error()
}

// weigh counts a cosignature, or records why it does not count. A witness whose key was stolen
// never counts, because the thief can state any time.
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

// Witnessed returns the earliest time by which the witnesses that the policy requires, and at least
// one witness, had cosigned a checkpoint. The time is zero if they did not. Witnesses that have an
// issuer's key material do not count. external reports whether a trusted key of the log, and no key
// with an issuer's material, signed the checkpoint.
func (v *Verifier) Witnessed(c *Checkpoint) (at time.Time, external bool) {
	if !c.Signed {
		return at, false
	}
	issuers := kinOf(v.trust)
	external = !slices.ContainsFunc(c.opened.logs, func(k *Key) bool { return len(issuers[k.Thumbprint]) > 0 })

	// A key counts once, at its earliest time.
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
// keys that did not sign.
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

// refuteForks marks a log's checkpoints as invalid if they show two trees of the same size. One of
// the two is wrong, but it is impossible to determine which. The original checkpoints are not
// modified, because other verifiers may use them.
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

	// Collect all roots first, so that the order of two checkpoints does not matter.
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

// A Growth states whether a log only appended receipts between two of its checkpoints.
type Growth struct {
	Verdict Verdict

	// Code is the reason if the verdict is not verified: CodeTruncated, CodeMerkleRootMismatch,
	// CodeProofInvalid, CodeKeyRevoked, or CodeUnknownKey.
	Code Code

	// Later reports that Code refers to the later checkpoint: no signature on it counts, or its
	// tree differs from the tree to which the proof leads.
	Later bool

	// Err is the error from merkle.CheckConsistency if the proof is for these trees but is invalid.
	Err error

	// Signers are the keys with which the log signed the earlier checkpoint and the later
	// checkpoint, in that order. A key is nil if no signature counts.
	Signers [2]*Key

	// Revoked is the key to which CodeKeyRevoked refers.
	Revoked *Key
}

// CheckGrowth checks the proof that the checkpoint to extends the checkpoint from. Both checkpoints
// must be from one log and opened with its keys in trust, and all their signatures by those keys
// must be valid. If no trusted key signed the checkpoints, a proof between them shows nothing about
// a log, so the result is undecided. Two checkpoints that contradict each other are refuted
// regardless of the proof, which may then be nil.
func CheckGrowth(trust LogTrust, from, to *tlog.Signed, proof *tlog.Extension) *Growth {
	g := &Growth{Verdict: Refuted}
	g.compare(from, to, proof)

	// Signatures matter only if the trees are consistent; a contradiction refutes regardless of the
	// signers.
	for i, c := range []*tlog.Signed{from, to} {
		key, code := CheckpointSigner(trust, c)
		switch {
		case code == "":
			g.Signers[i] = key
		case g.Verdict == Refuted:
		case code == CodeKeyRevoked: // even if nobody signed the other checkpoint
			g.Verdict, g.Code, g.Later, g.Revoked = Refuted, code, i == 1, key
		case g.Verdict == Verified:
			g.Verdict, g.Code, g.Later = Undecided, code, i == 1
		}
	}
	return g
}

// compare compares the proof with the trees. The result is refuted unless everything matches.
func (g *Growth) compare(from, to *tlog.Signed, x *tlog.Extension) {
	if g.Code = Contradiction(&from.Checkpoint, &to.Checkpoint); g.Code != "" {
		return
	}

	// The proof must be for these two trees.
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

// Contradiction returns a code that describes how two checkpoints of one log contradict each other:
// CodeTruncated if the later tree is smaller (a log never shrinks), or CodeMerkleRootMismatch if
// two trees of one size differ. If both checkpoints may be correct, it returns "".
func Contradiction(from, to *tlog.Checkpoint) Code {
	switch {
	case from.Size > to.Size:
		return CodeTruncated
	case from.Size == to.Size && from.Root != to.Root:
		return CodeMerkleRootMismatch
	}
	return ""
}

// CheckpointSigner returns the key in trust with which the log signed a checkpoint, and an empty
// code. If no signature counts, the code is CodeUnknownKey, or CodeKeyRevoked with the revoked key.
// A checkpoint states no time, so signatures by a stolen key never count, and the validity period
// of the key is not checked.
func CheckpointSigner(trust LogTrust, c *tlog.Signed) (*Key, Code) {
	var revoked *Key
	// A log may have rotated its keys, so one signature that counts is enough.
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

// signedBy reports whether the log signed a checkpoint with the given key.
func signedBy(k *NoteKey, c *tlog.Signed) bool {
	return k.Has(RoleCheckpoint) && k.Origin == c.Origin &&
		slices.ContainsFunc(c.Logs, func(l *tlog.Log) bool { return l.HasKey(k.Public) })
}

// Logs returns the trusted keys that belong to logs.
func Logs(trust LogTrust) (logs []*tlog.Log) {
	for _, k := range trust.NoteKeys() {
		if log := k.log(); log != nil {
			logs = append(logs, log)
		}
	}
	return logs
}
