package receipt

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/redact"
)

// Evidence is information about receipts that is not contained in the receipts. Evidence adds
// requirements. A receipt that the evidence contradicts is refuted. A receipt that the evidence
// does not cover is undecided, even if it would be verified without the evidence.
type Evidence struct {
	// Proofs are inclusion proofs with their checkpoints (C2SP tlog-proof). At least one of them
	// must show that the receipt is included. A receipt that matches no proof is refuted with
	// checkpoint_invalid if the checkpoint of a proof is invalid. Otherwise, the receipt is
	// undecided in two cases: no trusted log has signed the checkpoint of any proof, or Uncompared
	// is set and no trusted log has signed Checkpoint. In all other cases, the receipt is refuted
	// with proof_invalid. Every receipt is compared with every proof.
	Proofs []*tlog.Proof

	// Batches contains batches in the content profile.
	Batches []Batch

	// Timestamps show that receipts, or checkpoints that include them, existed before a certain
	// time.
	Timestamps []Timestamp

	// Materials looks up files by their digests. If it is nil, files are not checked.
	Materials Materials

	// Disclosures are values that were withheld from the receipts. Disclosures that are bound to
	// one receipt have no effect on other receipts.
	Disclosures []*redact.Disclosures

	// Checkpoint is a checkpoint of a tree whose leaves are the receipts. The root of this tree was
	// computed from all receipts, so inclusion proofs are not needed.
	Checkpoint *Checkpoint

	// Uncompared is the reason why a supplied checkpoint could not be compared with the receipts.
	// The receipts are then undecided. Uncompared is "" if no checkpoint was supplied or if it was
	// compared. If Checkpoint is also set, Uncompared refers to it. A proof then shows inclusion in
	// that checkpoint only if the proof results in the root of the same tree.
	Uncompared string
}

// A Batch describes a batch of receipts in the content profile. [BatchLeaf] computes the leaves of
// such a batch. Package batch implements this interface. An implementation must be safe for
// concurrent use, and must have verified that the root is computed from the leaves.
type Batch interface {
	// Root returns the merkle_root of the receipts in the batch.
	Root() canon.Digest

	// Find returns the leaf hash and the receipt hash that the batch lists for a receipt_id.
	Find(receiptID []byte) (leaf merkle.Hash, hash canon.Digest, ok bool)

	// Explain returns a sentence that explains why a receipt in the batch may contain the given
	// root, for example because an older construction results in that root. It returns "" if there
	// is no known explanation.
	Explain(stated canon.Digest) string
}

// A Timestamp is a statement by an authority that data existed before a certain time. The caller
// must have verified the signature of the statement. The caller must also have verified that no
// certificate of the authority has the same key material as a trusted key, because otherwise the
// thief of a trusted key could act as an authority.
type Timestamp struct {
	// Digest is the hash of a receipt, or the SHA-256 digest of a checkpoint's text.
	Digest canon.Digest

	ProvenTime
}

// A ProvenTime is a time before which a receipt existed, according to an authority.
type ProvenTime struct {
	Time      Time   `json:"time"`
	Authority string `json:"authority"`
}

// Materials looks up files by the digests in receipts. An implementation must be safe for
// concurrent use.
type Materials interface {
	// Lookup looks up the file for the digest d, and reports whether there is one. actual is the
	// digest of the file's content, which differs from d if d is merely the file's name.
	Lookup(d canon.Digest) (actual canon.Digest, found bool)
}

// evidence is an [Evidence] whose checkpoints have been opened.
type evidence struct {
	proofs     []proof
	batches    []Batch
	timestamps []Timestamp
	materials  Materials

	disclosures []*redact.Disclosures

	outside string      // reason why a supplied checkpoint proves nothing; "" if no checkpoint was supplied
	demands *checkpoint // the supplied checkpoint, whose tree a proof must match; if nil, any tree is accepted
}

// compare adds a checkpoint that covers all receipts, or the reason why that checkpoint could not
// be compared.
func (e *evidence) compare(given Evidence) {
	e.outside = cmp.Or(given.Uncompared, e.outside)
	if given.Checkpoint == nil {
		return
	}

	// A checkpoint that was not compared proves nothing about receipts, but it may be one side of a
	// fork.
	all := append([]proof{{checkpoint: given.Checkpoint.opened, whole: true}}, e.proofs...)
	refuteForks(all)
	if e.proofs = all; given.Uncompared != "" {
		e.proofs, e.demands = all[1:], given.Checkpoint.opened
	}
}

// uncompared returns an undecided check for a receipt without a proof, because the checkpoint for
// all receipts was not compared with the receipts.
func (e *evidence) uncompared() Check {
	c := Check{Step: StepBatch, Code: CodeCheckpointRequired, Reason: e.outside}
	if e.demandsUnknown() {
		c.Code = CodeUnknownKey
	}
	return c
}

// demandsUnknown reports whether no trusted key of the log has signed the supplied checkpoint. A
// proof with a different root then refutes nothing, because it may be for another receipt, and even
// the supplied checkpoint proves nothing about this receipt.
func (e *evidence) demandsUnknown() bool { return e.demands != nil && len(e.demands.logs) == 0 }

// A proof is an inclusion proof from the evidence. Several proofs may have the same checkpoint.
type proof struct {
	given      int // index in the evidence
	index      uint64
	path       []merkle.Hash
	checkpoint *checkpoint
	whole      bool // inclusion was shown by computing the root, so there is no path
}

var errUnreadable = errors.New("receipt: the checkpoint of the proof cannot be read")

// leadsTo checks that the path from a leaf results in the root of the checkpoint.
func (p *proof) leadsTo(leaf merkle.Hash) error {
	c := p.checkpoint
	if !c.readable {
		return errUnreadable
	}
	if p.whole {
		return nil
	}

	// The inclusion proof is verified as specified in RFC 9162 section 2.1.3.2.
	return merkle.CheckInclusion(leaf, p.index, c.claims.Size, p.path, c.claims.Root)
}

// With returns a copy of v that also uses the given evidence. With opens each checkpoint once,
// using the keys of the verifier's trust if that is a [LogTrust]. An invalid checkpoint is not an
// error, but it refutes receipts. With returns an error if an element of the evidence is nil, if v
// already has evidence, or if there are proofs but the policy requires only integrity (and
// therefore trusts no log). All evidence must be passed in a single call, except that the result of
// a comparison (Checkpoint or Uncompared) may be passed in a separate call.
func (v *Verifier) With(e Evidence) (*Verifier, error) {
	switch given := &v.evidence; {
	case e.Checkpoint != nil && e.Checkpoint.opened == nil:
		return nil, errors.New("receipt: the checkpoint of the evidence was not opened; OpenCheckpoint of a Verifier does")
	case e.compared():
		c := *v
		c.evidence.compare(e)
		return &c, nil
	case given.outside != "" || len(given.proofs) > 0 || len(given.batches) > 0 || len(given.timestamps) > 0 || given.materials != nil || len(given.disclosures) > 0:
		return nil, errors.New("receipt: the verifier already has evidence; supply all of it at the same time")
	case v.policy.IntegrityOnly && len(e.Proofs) > 0:
		return nil, errors.New("receipt: a policy for integrity only has no keys of logs, so no proof can be checked")
	case slices.Contains(e.Proofs, nil) || slices.Contains(e.Batches, nil) || slices.Contains(e.Disclosures, nil):
		return nil, errors.New("receipt: a proof, a batch, or a disclosure file of the evidence is nil")
	}

	// The lists are copied, so that the caller may change them later.
	c := *v
	c.evidence = evidence{
		proofs:     newNoteKeys(v.trust, &v.policy.Checkpoint).openProofs(e.Proofs),
		batches:    slices.Clone(e.Batches),
		timestamps: slices.Clone(e.Timestamps),
		materials:  e.Materials,

		disclosures: slices.Clone(e.Disclosures),
	}

	c.evidence.compare(e)
	return &c, nil
}

// compared reports whether e contains nothing but the result of a comparison.
func (e *Evidence) compared() bool {
	return (e.Checkpoint != nil || e.Uncompared != "") &&
		len(e.Proofs) == 0 && len(e.Batches) == 0 && len(e.Timestamps) == 0 && e.Materials == nil && len(e.Disclosures) == 0
}

// A Piece identifies one piece of [Evidence].
type Piece struct {
	Kind  string // "proof", "batch", "timestamp", "disclosures", or "materials"
	Index int    // index in the list of that kind, starting at 0; 0 for the materials

	// Part describes the values in a disclosure file that belong to no receipt. It is set only if
	// the disclosures are not bound to a receipt and other values in the file belong to a receipt.
	// Otherwise, it is "".
	Part string
}

// A pieceKind is a kind of evidence.
type pieceKind uint8

const (
	pieceProof pieceKind = iota
	pieceBatch
	pieceTimestamp
	pieceDisclosures
	pieceMaterials
)

// name returns the name of the kind, as in [Piece].
func (k pieceKind) name() string {
	return [...]string{"proof", "batch", "timestamp", "disclosures", "materials"}[k]
}

// String returns a readable name, such as "proof 2".
func (p Piece) String() string {
	switch p.Kind {
	case pieceProof.name():
		return fmt.Sprintf("proof %d", p.Index+1)
	case pieceBatch.name():
		return fmt.Sprintf("batch %d", p.Index+1)
	case pieceTimestamp.name():
		return fmt.Sprintf("timestamp %d", p.Index+1)
	case pieceDisclosures.name():
		return fmt.Sprintf("disclosure file %d", p.Index+1)
	}
	return "the files to look up"
}

// TrackEvidence returns a copy of v that records which pieces of evidence are relevant to the
// receipts that it verifies. A piece that is relevant to none of these receipts proves nothing,
// although the caller expects it to. Package stream reports such pieces, and the verdict for the
// input is then undecided. The copy therefore does not report disclosures for other receipts.
//
// The function idle returns the pieces of evidence that have not been relevant to any receipt so
// far. These are proofs and batches that have neither supported nor contradicted a receipt,
// disclosures that are for other receipts or match nothing, and the files if no receipt contains
// the digest of a file. idle is safe for concurrent use.
func (v *Verifier) TrackEvidence() (watching *Verifier, idle func() []Piece) {
	c := *v
	given := 0 // a checkpoint for all receipts is not counted as a piece
	for i := range v.evidence.proofs {
		if !v.evidence.proofs[i].whole {
			given++
		}
	}

	// The verifier and idle share these flags.
	var seen watched
	seen.pieces[pieceProof] = make([]atomic.Bool, given)
	seen.pieces[pieceBatch] = make([]atomic.Bool, len(v.evidence.batches))
	seen.pieces[pieceTimestamp] = make([]atomic.Bool, len(v.evidence.timestamps))
	seen.pieces[pieceDisclosures] = make([]atomic.Bool, len(v.evidence.disclosures))
	if v.evidence.materials != nil {
		seen.pieces[pieceMaterials] = make([]atomic.Bool, 1)
	}
	seen.fields = make([][]atomic.Bool, len(v.evidence.disclosures))
	for i, d := range v.evidence.disclosures {
		seen.fields[i] = make([]atomic.Bool, len(d.Fields))
	}

	c.watched = seen
	return &c, func() []Piece { return seen.idle(v.evidence.disclosures) }
}

// watched contains a flag for each piece of evidence, by kind, and for each disclosed value. It is
// empty if the evidence is not tracked.
type watched struct {
	pieces [pieceMaterials + 1][]atomic.Bool
	fields [][]atomic.Bool
}

// see records that a piece of evidence supports or contradicts a receipt.
func (w *watched) see(kind pieceKind, i int) {
	if i < len(w.pieces[kind]) {
		w.pieces[kind][i].Store(true)
	}
}

// seeField records that a disclosed value belongs to a receipt. The value is from disclosures that
// are not bound to a receipt.
func (w *watched) seeField(i, k int) {
	if i < len(w.fields) {
		w.fields[i][k].Store(true)
	}
}

// seeAll marks all pieces of the given kinds as relevant, either because no piece matches or
// because the pieces were not checked.
func (w *watched) seeAll(kinds ...pieceKind) {
	for _, kind := range kinds {
		for i := range w.pieces[kind] {
			w.pieces[kind][i].Store(true)
		}
	}
}

// idle returns the pieces for which no flag is set.
func (w *watched) idle(disclosures []*redact.Disclosures) (list []Piece) {
	for kind := range w.pieces {
		for i := range w.pieces[kind] {
			if w.pieces[kind][i].Load() {
				continue
			}
			piece := Piece{Kind: pieceKind(kind).name(), Index: i}
			if pieceKind(kind) != pieceDisclosures {
				list = append(list, piece)
				continue
			}

			// Each value in a disclosure file must belong to a receipt, but different values may
			// belong to different receipts.
			fields := disclosures[i].Fields
			var rest []string
			for k := range w.fields[i] {
				if !w.fields[i][k].Load() {
					rest = append(rest, untrusted.Cut(fields[k].Field, 256))
				}
			}
			if len(rest) == 0 && len(fields) > 0 {
				continue
			}
			if len(rest) < len(fields) {
				piece.Part = quotedList(rest)
			}
			list = append(list, piece)
		}
	}
	return list
}

// A redactionStep performs the step [StepRedactions].
type redactionStep struct{ *Verifier }

// check compares the values that were disclosed for the receipt with their commitments. Values that
// are still withheld are reported but do not affect the verdict, because disclosures usually cover
// only some of the fields.
func (s redactionStep) check(doc *canon.Document, holds bool, rep *Report) {
	withheld := doc.Root().Member("redactions").Len()
	switch {
	case len(s.evidence.disclosures) == 0:
		s.notDisclosed(withheld, rep)
		return
	case !holds: // the commitments are no more trustworthy than the rest of the receipt
		s.watched.seeAll(pieceDisclosures)
		rep.omit(StepRedactions, CodeStepNotReached, "redactions: the receipt does not fit its hash or its schema")
		return
	}

	// Values that match their commitments may still contradict each other or other parts of the
	// receipt.
	shown, belonging, err := disclosed(s.evidence.disclosures, &s.watched, doc, rep.ReceiptHash)
	if err == nil {
		err = redact.Consistent(doc, shown)
	}
	// A field that two files disclose is counted once.
	fields := map[string]bool{}
	for _, f := range shown {
		fields[f.Field] = true
	}

	switch {
	case err != nil:
		rep.fail(disclosureFault(err))
	// If evidence is tracked, the disclosures may be for another receipt, and the run reports them.
	case !belonging && s.watched.fields == nil:
		rep.leave(Check{Step: StepRedactions, Code: CodeDisclosureUnbound, Reason: "the disclosures that were given belong to another receipt"})
	case len(fields) == 0:
		s.notDisclosed(withheld, rep)
	default:
		rep.pass(StepRedactions)
		rep.Disclosed = slices.Sorted(maps.Keys(fields))
		if rest := withheld - len(fields); rest > 0 {
			rep.Withheld = rest
			rep.NotChecked = append(rep.NotChecked, Note{Code: CodeRedactionsNotChecked,
				Detail: fmt.Sprintf("redactions: %d of %d withheld values were not disclosed", rest, withheld)})
		}
	}
}

// disclosed returns the disclosed values that belong to the receipt. Disclosures that are bound to
// a receipt hash belong only to the receipt with that hash, and every value must match. Each value
// in disclosures that are not bound belongs to the receipts whose commitments it matches. A value
// that matches no commitment does not contradict the receipt. If evidence is tracked, idle reports
// the value.
func disclosed(given []*redact.Disclosures, seen *watched, doc *canon.Document, hash canon.Digest) (shown []redact.Disclosure, belonging bool, err error) {
	for i, d := range given {
		switch d.ReceiptHash {
		case hash:
			belonging = true
			if len(d.Fields) > 0 {
				seen.see(pieceDisclosures, i)
			}
			if err := d.Check(doc); err != nil {
				return nil, true, err
			}
			shown = append(shown, d.Fields...)
		// Disclosures that are not bound may be for several receipts, so only the values that match
		// belong to this receipt.
		case canon.Digest{}:
			for _, k := range d.Fitting(doc) {
				belonging = true
				seen.seeField(i, k)
				shown = append(shown, d.Fields[k])
			}
		}
	}
	return shown, belonging, nil
}

// notDisclosed records that withheld values were not compared with anything.
func (redactionStep) notDisclosed(withheld int, r *Report) {
	r.Withheld = withheld
	switch withheld {
	case 0:
		r.notApplicable(StepRedactions)
	case 1:
		r.omit(StepRedactions, CodeRedactionsNotChecked, "redactions: 1 value withheld, no disclosures given")
	default:
		r.omit(StepRedactions, CodeRedactionsNotChecked, fmt.Sprintf("redactions: %d values withheld, no disclosures given", withheld))
	}
}

// disclosureFault returns a check for the first error in disclosures. The check contains the field
// but no value.
func disclosureFault(err error) Check {
	c := Check{Step: StepRedactions, Code: CodeDisclosureMismatch, Detail: err.Error()}
	if wrong := (*redact.DisclosureError)(nil); errors.As(err, &wrong) {
		c.Code, c.Pointer, c.Detail = Code(wrong.Code), untrusted.Cut(wrong.Field, 256), wrong.Detail
		if !wrong.Computed.IsZero() {
			c.Stated, c.Computed = wrong.Stated.String(), wrong.Computed.String()
		}
	}
	return c
}
