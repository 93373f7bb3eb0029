package receipt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/redact"
)

// Evidence is what is brought beside the receipts. What is brought has to
// suffice: a receipt that it contradicts is refuted, and one that it does not
// show is undecided, even when it would be verified without it.
type Evidence struct {
	// Proofs are inclusion proofs with their checkpoints (C2SP tlog-proof). Each
	// receipt must be shown by one of them: a receipt that none fits is refuted,
	// proof_invalid, or undecided if no trusted key signed Checkpoint. Every receipt is
	// tried with every proof.
	Proofs []*tlog.Proof

	// Batches are batches of the content profile.
	Batches []Batch

	// Materials finds files by digest. Nil: files are not checked.
	Materials Materials

	// Disclosures are withheld values of the receipts. Those that are bound to
	// another receipt than the one at hand say nothing of it.
	Disclosures []*redact.Disclosures

	// Checkpoint is one whose tree the receipts are the leaves of: whoever gives it
	// has computed its root over all of them, in the place of a proof for each.
	Checkpoint *Checkpoint

	// Uncompared says why a checkpoint that was given could not be compared with
	// the receipts: for that reason they are left undecided. Empty: none was given,
	// or it was compared. With Checkpoint, that is the one, and only a proof that leads
	// to the same tree shows that a receipt is in it.
	Uncompared string
}

// A Batch is a batch of the content profile, made of leaves as [BatchLeaf] gives
// them. Package batch implements it. An implementation must be safe for
// concurrent use and must have made sure that its root is that of its leaves.
type Batch interface {
	// Root returns the merkle_root that the receipts of the batch state.
	Root() canon.Digest

	// Leaf returns the leaf hash that is listed for a receipt_id.
	Leaf(receiptID []byte) (leaf merkle.Hash, ok bool)

	// ReceiptHash returns the receipt_hash that is listed beside it; zero when
	// the batch does not say.
	ReceiptHash(receiptID []byte) canon.Digest

	// Explain says in a sentence why a receipt of the batch may state another
	// root, such as that it is what an older construction would give over the
	// batch; "" when it does not know.
	Explain(stated canon.Digest) string
}

// Materials finds the files that receipts name by digest. An implementation must
// be safe for concurrent use.
type Materials interface {
	// Lookup finds the file of a digest; found says that there is one. actual is
	// the digest of its content, which differs from d when a file that is named
	// after d holds something else.
	Lookup(d canon.Digest) (actual canon.Digest, found bool)
}

// evidence is Evidence with its checkpoints opened.
type evidence struct {
	proofs    []proof
	batches   []Batch
	materials Materials

	disclosures []*redact.Disclosures

	outside string      // why a checkpoint that was given shows nothing; "" when none was
	demands *checkpoint // the one of outside, which a proof has to lead to; nil when any will do
}

// compare adds a checkpoint that covers all receipts, or the reason why it was not compared.
func (e *evidence) compare(given Evidence) {
	e.outside = cmp.Or(given.Uncompared, e.outside)
	if given.Checkpoint == nil {
		return
	}

	// A checkpoint that was not compared shows nothing, but may be the other half of a fork.
	all := append([]proof{{checkpoint: given.Checkpoint.opened, whole: true}}, e.proofs...)
	refuteForks(all)
	if e.proofs = all; given.Uncompared != "" {
		e.proofs, e.demands = all[1:], given.Checkpoint.opened
	}
}

// uncompared leaves a receipt open of which no proof was given, since the checkpoint over all
// receipts was not compared with them.
func (e *evidence) uncompared() Check {
	c := Check{Step: StepBatch, Code: CodeCheckpointRequired, Reason: e.outside}
	if e.demandsUnknown() {
		c.Code = CodeUnknownKey
	}
	return c
}

// demandsUnknown reports whether the checkpoint that was given is one that no trusted key of
// its log signed. Then a proof that leads elsewhere refutes nothing: it may be that of another
// receipt, and the checkpoint that would include this receipt shows nothing.
func (e *evidence) demandsUnknown() bool { return e.demands != nil && len(e.demands.logs) == 0 }

// A proof is one of the evidence. Several may share a checkpoint.
type proof struct {
	given      int // its place in the evidence
	index      uint64
	path       []merkle.Hash
	checkpoint *checkpoint
	whole      bool // inclusion was shown by computing the root; there is no path
}

var errUnreadable = errors.New("receipt: the proof leads to no checkpoint that can be read")

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

// With returns a copy of v that also weighs evidence. The checkpoints are opened
// here, once, with the keys of the verifier's trust when that is a [LogTrust]. A
// false checkpoint is not an error: it refutes receipts. An error says that evidence
// is nil, that proofs are given for integrity only, where no log is trusted, or
// that v weighs evidence already: all of it has to be given at once. Only the outcome
// of a comparison, Checkpoint or Uncompared, may come later, by itself.
func (v *Verifier) With(e Evidence) (*Verifier, error) {
	switch given := &v.evidence; {
	case e.Checkpoint != nil && e.Checkpoint.opened == nil:
		return nil, errors.New("receipt: the checkpoint of the evidence was not opened; OpenCheckpoint of a Verifier does")
	case e.compared():
		c := *v
		c.evidence.compare(e)
		return &c, nil
	case given.outside != "" || len(given.proofs) > 0 || len(given.batches) > 0 || given.materials != nil || len(given.disclosures) > 0:
		return nil, errors.New("receipt: the verifier weighs evidence already; give all of it at once")
	case v.policy.IntegrityOnly && len(e.Proofs) > 0:
		return nil, errors.New("receipt: a policy for integrity only knows no keys of logs, so no proof can be checked")
	case slices.Contains(e.Proofs, nil) || slices.Contains(e.Batches, nil) || slices.Contains(e.Disclosures, nil):
		return nil, errors.New("receipt: a proof, a batch or a disclosure file of the evidence is nil")
	}

	// The lists are copied: whoever brought them may go on to change them.
	c := *v
	c.evidence = evidence{
		proofs:    newNoteKeys(v.trust, &v.policy.Checkpoint.Cosigners).openProofs(e.Proofs),
		batches:   slices.Clone(e.Batches),
		materials: e.Materials,

		disclosures: slices.Clone(e.Disclosures),
	}

	c.evidence.compare(e)
	return &c, nil
}

// compared reports whether e is the outcome of a comparison and nothing else.
func (e *Evidence) compared() bool {
	return (e.Checkpoint != nil || e.Uncompared != "") &&
		len(e.Proofs) == 0 && len(e.Batches) == 0 && e.Materials == nil && len(e.Disclosures) == 0
}

// A Piece is one of the [Evidence].
type Piece struct {
	Kind  string // "proof", "batch", "disclosures" or "materials"
	Index int    // in its list, from 0; 0 for the materials

	// Part names the values that belong to no receipt, of disclosures that name none and of
	// which others do; otherwise "".
	Part string
}

// A pieceKind is a list of the evidence.
type pieceKind uint8

const (
	pieceProof pieceKind = iota
	pieceBatch
	pieceDisclosures
	pieceMaterials
)

// String returns the name, as [Piece] has it.
func (k pieceKind) String() string {
	return [...]string{"proof", "batch", "disclosures", "materials"}[k]
}

// String returns a name for a person, such as "proof 2".
func (p Piece) String() string {
	switch p.Kind {
	case pieceProof.String():
		return fmt.Sprintf("proof %d", p.Index+1)
	case pieceBatch.String():
		return fmt.Sprintf("batch %d", p.Index+1)
	case pieceDisclosures.String():
		return fmt.Sprintf("disclosure file %d", p.Index+1)
	}
	return "the files to look up"
}

// Watch returns a copy of v that notes which of its evidence has to do with the
// receipts that it judges. Evidence that nobody needed shows nothing, though whoever
// brought it meant it to: package stream says so, and leaves the input undecided. Its
// reports therefore leave a receipt alone to which no disclosures belong.
//
// idle returns what had to do with no receipt so far: proofs and batches that
// neither showed nor contradicted anything, disclosures of other receipts or of
// nothing, files when no receipt names any by digest. It is safe for concurrent use.
func (v *Verifier) Watch() (watching *Verifier, idle func() []Piece) {
	c := *v
	given := 0 // a checkpoint over all receipts is not part of the evidence
	for i := range v.evidence.proofs {
		if !v.evidence.proofs[i].whole {
			given++
		}
	}

	// The verifier and what lists them share the flags.
	var seen watched
	seen.pieces[pieceProof] = make([]atomic.Bool, given)
	seen.pieces[pieceBatch] = make([]atomic.Bool, len(v.evidence.batches))
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

// watched has a flag for each piece of evidence, by kind, and for each disclosed value. Of
// a verifier that nobody watches it is empty.
type watched struct {
	pieces [pieceMaterials + 1][]atomic.Bool
	fields [][]atomic.Bool
}

// see notes that a piece shows or contradicts a receipt.
func (w *watched) see(kind pieceKind, i int) {
	if i < len(w.pieces[kind]) {
		w.pieces[kind][i].Store(true)
	}
}

// seeField notes that a value of disclosures that name no receipt belongs to one.
func (w *watched) seeField(i, k int) {
	if i < len(w.fields) {
		w.fields[i][k].Store(true)
	}
}

// seeAll notes that the report tells of all of a kind: that none of it fits, or
// why it was not looked at.
func (w *watched) seeAll(kinds ...pieceKind) {
	for _, kind := range kinds {
		for i := range w.pieces[kind] {
			w.pieces[kind][i].Store(true)
		}
	}
}

// idle lists what was not seen.
func (w *watched) idle(disclosures []*redact.Disclosures) (list []Piece) {
	for kind := range w.pieces {
		for i := range w.pieces[kind] {
			if w.pieces[kind][i].Load() {
				continue
			}
			piece := Piece{Kind: pieceKind(kind).String(), Index: i}
			if pieceKind(kind) != pieceDisclosures {
				list = append(list, piece)
				continue
			}

			// All of its values have to belong to receipts, if not all to the same.
			fields := disclosures[i].Fields
			var rest []string
			for k := range w.fields[i] {
				if !w.fields[i][k].Load() {
					rest = append(rest, foreign.Cut(fields[k].Field, 256))
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
