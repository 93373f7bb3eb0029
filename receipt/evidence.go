package receipt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/redact"
)

// Evidence is information about receipts that is not part of them. Evidence adds requirements: if
// it contradicts a receipt, the receipt is refuted, and if it does not cover a receipt, the receipt
// is undecided, even if the receipt would be verified without it.
type Evidence struct {
	// Proofs are inclusion proofs with their checkpoints (C2SP tlog-proof). At least one proof must
	// show the inclusion of each receipt. A receipt that matches no proof is refuted with
	// proof_invalid, or is undecided if no trusted key signed Checkpoint. Every receipt is tested
	// against every proof.
	Proofs []*tlog.Proof

	// Batches are batches in the content profile.
	Batches []Batch

	// Timestamps show that receipts, or checkpoints that include them, existed before a time.
	Timestamps []Timestamp

	// Materials looks up files by digest. If it is nil, files are not checked.
	Materials Materials

	// Disclosures are withheld values of the receipts. Disclosures that are bound to another
	// receipt do not affect this receipt.
	Disclosures []*redact.Disclosures

	// Checkpoint is a checkpoint whose tree has the receipts as its leaves. Its root was computed
	// from all of them, so no inclusion proofs are needed.
	Checkpoint *Checkpoint

	// Uncompared is the reason why a supplied checkpoint could not be compared with the receipts.
	// These receipts are undecided. Uncompared is empty if no checkpoint was supplied or if the
	// checkpoint was compared. If Checkpoint is also set, Uncompared refers to it, and only a proof
	// that leads to the same tree shows that a receipt is in the checkpoint.
	Uncompared string
}

// A Batch is a batch in the content profile, whose leaves are computed by [BatchLeaf]. Package
// batch implements this interface. An implementation must be safe for concurrent use, and must have
// verified that the root matches the leaves.
type Batch interface {
	// Root returns the merkle_root that the batch's receipts state.
	Root() canon.Digest

	// Find returns the leaf hash and the receipt_hash that the batch lists for the given
	// receipt_id. The hash is zero if the batch lists no hash.
	Find(receiptID []byte) (leaf merkle.Hash, hash canon.Digest, ok bool)

	// Explain returns a sentence that explains why a receipt in the batch may state another root,
	// such as that an older construction would produce that root for the batch. It returns "" if no
	// explanation is known.
	Explain(stated canon.Digest) string
}

// A Timestamp is an authority's statement that bytes existed before a time. The caller has verified
// its signature. The caller has also verified that none of the authority's certificates shares its
// key material with a trusted key, because a thief who holds a trusted key could act as its own
// authority.
type Timestamp struct {
	// Digest is a receipt's hash, or the SHA-256 of a checkpoint's text.
	Digest canon.Digest

	ProvenTime
}

// A ProvenTime is a time before which a receipt existed, as stated by an authority.
type ProvenTime struct {
	Time      Time   `json:"time"`
	Authority string `json:"authority"`
}

// Materials looks up files by the digests that receipts name. An implementation must be safe for
// concurrent use.
type Materials interface {
	// Lookup looks up the file with digest d and reports whether it was found. actual is the digest
	// of the file's content, which differs from d if the file is named after d but has other
	// content.
	Lookup(d canon.Digest) (actual canon.Digest, found bool)
}

// evidence is the [Evidence] with its checkpoints opened.
type evidence struct {
	proofs     []proof
	batches    []Batch
	timestamps []Timestamp
	materials  Materials

	disclosures []*redact.Disclosures

	outside string      // why a supplied checkpoint shows nothing; "" if no checkpoint was supplied
	demands *checkpoint // the checkpoint to which outside refers and a proof must lead; nil accepts any
}

// compare adds a checkpoint that covers all receipts, or the reason why the checkpoint could not be
// compared.
func (e *evidence) compare(given Evidence) {
	e.outside = cmp.Or(given.Uncompared, e.outside)
	if given.Checkpoint == nil {
		return
	}

	// A checkpoint that was not compared shows nothing, but it may still be one side of a fork.
	all := append([]proof{{checkpoint: given.Checkpoint.opened, whole: true}}, e.proofs...)
	refuteForks(all)
	if e.proofs = all; given.Uncompared != "" {
		e.proofs, e.demands = all[1:], given.Checkpoint.opened
	}
}

// uncompared marks a receipt without a proof as undecided, because the checkpoint for all receipts
// was not compared with them.
func (e *evidence) uncompared() Check {
	c := Check{Step: StepBatch, Code: CodeCheckpointRequired, Reason: e.outside}
	if e.demandsUnknown() {
		c.Code = CodeUnknownKey
	}
	return c
}

// demandsUnknown reports whether no trusted key of its log signed the supplied checkpoint. In that
// case, a proof with a different root refutes nothing: the proof may be for another receipt, and
// even the checkpoint that includes this receipt would show nothing.
func (e *evidence) demandsUnknown() bool { return e.demands != nil && len(e.demands.logs) == 0 }

// A proof is one proof from the evidence. Several proofs may share a checkpoint.
type proof struct {
	given      int // its index in the evidence
	index      uint64
	path       []merkle.Hash
	checkpoint *checkpoint
	whole      bool // inclusion was shown by computing the root, so there is no path
}

var errUnreadable = errors.New("receipt: the checkpoint of the proof cannot be read")

// leadsTo checks the path from a leaf to the root of the checkpoint.
func (p *proof) leadsTo(leaf merkle.Hash) error {
	c := p.checkpoint
	if !c.readable {
		return errUnreadable
	}
	if p.whole {
		return nil
	}

	// RFC 9162 section 2.1.3.2.
	return merkle.CheckInclusion(leaf, p.index, c.claims.Size, p.path, c.claims.Root)
}

// With returns a copy of v that also uses the given evidence. The checkpoints are opened once,
// here, with the keys of the verifier's trust if it is a [LogTrust]. An invalid checkpoint is not
// an error; it refutes receipts. With returns an error if an element of the evidence is nil, if
// proofs are given with an integrity-only policy, which trusts no log, or if v already has
// evidence. All evidence must be passed in one call, except the result of a comparison (Checkpoint
// or Uncompared), which may be passed in a separate call.
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

	// The lists are copied, so the caller may change them later.
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

// compared reports whether e contains only the result of a comparison.
func (e *Evidence) compared() bool {
	return (e.Checkpoint != nil || e.Uncompared != "") &&
		len(e.Proofs) == 0 && len(e.Batches) == 0 && len(e.Timestamps) == 0 && e.Materials == nil && len(e.Disclosures) == 0
}

// A Piece is one piece of [Evidence].
type Piece struct {
	Kind  string // "proof", "batch", "timestamp", "disclosures", or "materials"
	Index int    // index in its list, from 0; 0 for the materials

	// Part describes the values that belong to no receipt. It is set only for disclosures that name
	// no receipt and that contain other values that do belong to a receipt. Otherwise, it is "".
	Part string
}

// A pieceKind identifies a list in the evidence.
type pieceKind uint8

const (
	pieceProof pieceKind = iota
	pieceBatch
	pieceTimestamp
	pieceDisclosures
	pieceMaterials
)

// name returns the name in [Piece].
func (k pieceKind) name() string {
	return [...]string{"proof", "batch", "timestamp", "disclosures", "materials"}[k]
}

// String returns a name for people, such as "proof 2".
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

// TrackEvidence returns a copy of v that records which pieces of its evidence relate to the
// receipts that the copy judges. If a piece relates to no receipt, it shows nothing, contrary to the
// caller's expectation. Package stream reports unrelated pieces, and the verdict for the input is
// then undecided. The copy therefore omits disclosures for other receipts from its reports.
//
// The function idle returns the evidence that has not yet related to a receipt: proofs and batches
// that neither showed nor contradicted anything, disclosures that are for other receipts or match
// nothing, and files if no receipt names a file by digest. idle is safe for concurrent use.
func (v *Verifier) TrackEvidence() (watching *Verifier, idle func() []Piece) {
	c := *v
	given := 0 // a checkpoint of all receipts is not part of the evidence
	for i := range v.evidence.proofs {
		if !v.evidence.proofs[i].whole {
			given++
		}
	}

	// The verifier and idle share the flags.
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

// watched has a flag for each piece of evidence, by kind, and for each disclosed value. It is empty
// if the verifier is not watched.
type watched struct {
	pieces [pieceMaterials + 1][]atomic.Bool
	fields [][]atomic.Bool
}

// see records that a piece supports or contradicts a receipt.
func (w *watched) see(kind pieceKind, i int) {
	if i < len(w.pieces[kind]) {
		w.pieces[kind][i].Store(true)
	}
}

// seeField records that a value belongs to a receipt. The value comes from disclosures that state
// no receipt hash.
func (w *watched) seeField(i, k int) {
	if i < len(w.fields) {
		w.fields[i][k].Store(true)
	}
}

// seeAll records that the report mentions all pieces of some kinds, either because no piece matches
// or because the pieces were not checked.
func (w *watched) seeAll(kinds ...pieceKind) {
	for _, kind := range kinds {
		for i := range w.pieces[kind] {
			w.pieces[kind][i].Store(true)
		}
	}
}

// idle returns the pieces that were not seen.
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

			// Each of its values must belong to a receipt, but different values may belong to
			// different receipts.
			fields := disclosures[i].Fields
			var rest []string
			for k := range w.fields[i] {
				if !w.fields[i][k].Load() {
					rest = append(rest, untrusted.Cut(fields[k].Field, 256))
				}
			}
			if len(rest) > 0 && len(rest) < len(fields) {
				piece.Part = quotedList(rest)
			}
			if len(rest) > 0 || len(fields) == 0 {
				list = append(list, piece)
			}
		}
	}
	return list
}

// A redactionStep performs the step [StepRedactions].
type redactionStep struct{ *Verifier }

// check compares the disclosed values for the receipt with its commitments. Values that remain
// withheld are reported but do not affect the verdict, because disclosures usually cover only some
// of the fields.
func (s redactionStep) check(doc *canon.Document, holds bool, rep *Report) {
	withheld := doc.Root().Member("redactions").Len()
	switch {
	case len(s.evidence.disclosures) == 0:
		s.notDisclosed(withheld, rep)
		return
	case !holds: // the commitments are as untrusted as the receipt's other content
		s.watched.seeAll(pieceDisclosures)
		rep.omit(StepRedactions, CodeStepNotReached, "redactions: the receipt does not fit its hash or its schema")
		return
	}

	// Values that each match may still contradict one another or other parts of the receipt.
	shown, belonging, err := disclosed(s.evidence.disclosures, &s.watched, doc, rep.ReceiptHash)
	if err == nil {
		err = redact.Consistent(doc, shown)
	}
	// If two files disclose the same field, it counts once.
	fields := map[string]bool{}
	for _, f := range shown {
		fields[f.Field] = true
	}

	switch {
	case err != nil:
		rep.fail(disclosureFault(err))
	// If the verifier is watched, the disclosures may be for another receipt, and the run reports it.
	case !belonging && s.watched.fields == nil:
		rep.leave(Check{Step: StepRedactions, Code: CodeDisclosureUnbound, Reason: "the disclosures that were given belong to another receipt"})
	case len(fields) == 0:
		s.notDisclosed(withheld, rep)
	default:
		rep.pass(StepRedactions)
		if rest := withheld - len(fields); rest > 0 {
			rep.Withheld = rest
			rep.NotChecked = append(rep.NotChecked, Note{Code: CodeRedactionsNotChecked,
				Detail: fmt.Sprintf("redactions: %d of %d withheld values were not disclosed", rest, withheld)})
		}
	}
}

// disclosed returns the disclosed values that belong to the receipt. Disclosures that name a
// receipt by its hash belong only to that receipt, and every value in them must match. Disclosures
// that name no receipt belong, value by value, to the receipts whose commitments they match. A
// value that matches no commitment contradicts nothing. If the verifier is watched, idle reports
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
		// Disclosures that name no receipt may be for several receipts, so only the matching values
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

// notDisclosed records that withheld values were not compared.
func (redactionStep) notDisclosed(withheld int, r *Report) {
	r.Withheld = withheld
	switch withheld {
	case 0:
		r.notApplicable(StepRedactions)
	case 1:
		r.omit(StepRedactions, CodeRedactionsNotChecked, "redactions: 1 value withheld, no disclosure supplied")
	default:
		r.omit(StepRedactions, CodeRedactionsNotChecked, fmt.Sprintf("redactions: %d values withheld, no disclosures given", withheld))
	}
}

// disclosureFault describes the first error in disclosures. It quotes the field, but no value.
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
