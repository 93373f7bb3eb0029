package receipt

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
)

// A batchStep performs the step [StepBatch].
type batchStep struct{ *Verifier }

// check evaluates the proofs, batches, and timestamps in the evidence. All must hold.
func (s batchStep) check(doc *canon.Document, holds bool, rep *Report) {
	asked := len(s.evidence.proofs)+len(s.evidence.batches)+len(s.evidence.timestamps) > 0 || s.evidence.outside != "" ||
		s.policy.Checkpoint.asked() || s.policy.Timestamp
	stated := doc.Root().Member("chain").Member("merkle_root")
	switch {
	case !asked && stated.IsZero():
		rep.notApplicable(StepBatch)
		return
	case !asked:
		rep.omit(StepBatch, CodeBatchNotChecked, "batch: "+noBatch)
		return
	case !holds: // the leaf would cover content that does not match the hash or the schema
		s.watched.seeAll(pieceProof, pieceBatch, pieceTimestamp)
		rep.omit(StepBatch, CodeStepNotReached, "batch: the receipt does not fit its hash or its schema")
		return
	}

	// Inclusion in a log and inclusion in a batch are separate statements. Neither replaces the
	// other.
	inclusion, batch := s.weighProofs(doc.Root(), rep), s.weighBatches(doc, stated, rep.ReceiptHash)
	if s.from.err != nil && inclusion.Code == CodeUnknownKey { // the log's key may be one of the keys that could not be read
		inclusion.Code, inclusion.Reason = CodeTrustUnavailable, trustUnavailable
	}
	s.record(inclusion, batch, rep)
	s.date(doc.Root(), rep)
}

// date determines the earliest time by which the receipt is proven to have existed, and compares it
// with issued_at. It uses the timestamps of the receipt and of the checkpoints that include the
// receipt.
func (s batchStep) date(root canon.Node, rep *Report) {
	var included []*checkpoint
	if rep.tally != nil {
		included = rep.tally.included
	}
	for i, t := range s.evidence.timestamps {
		if t.Digest != rep.ReceiptHash && !slices.ContainsFunc(included, func(c *checkpoint) bool { return c.text == t.Digest }) {
			continue
		}
		s.watched.see(pieceTimestamp, i)
		if rep.Existed.Time.IsZero() || t.Time.Before(rep.Existed.Time.Time) {
			rep.Existed = t.ProvenTime
		}
	}

	issued, _ := ParseTime(root.Member("issued_at").Text()) // the schema matches
	switch existed := rep.Existed; {
	case existed.Time.IsZero() && s.policy.Timestamp:
		rep.leave(Check{Step: StepBatch, Code: CodeTimeSelfAsserted, Reason: "the policy requires a timestamp of the receipt, or of a checkpoint that includes it, and none was given"})
	case !existed.Time.IsZero() && issued.After(existed.Time.Add(clockTolerance)) && !ReadUnreported(root).Has("/issued_at"):
		rep.fail(Check{Step: StepBatch, Code: CodeTimeContradicted, Pointer: "/issued_at", Stated: root.Member("issued_at").String(), Computed: existed.Time.String(),
			Detail: "the receipt existed before its time of issue, according to the authority " + quoted(excerpt([]byte(existed.Authority)))})
	}
}

// clockTolerance is the maximum accepted difference between the clocks of issuers and timestamp
// authorities.
const clockTolerance = time.Minute

const noBatch = "the receipt states a merkle_root, but its batch was not given"

// record combines the results for proofs and batches into the step's result: failures come first,
// followed by missing evidence. If a proof is valid and the policy is not strict, a merkle_root
// whose batch was not supplied is merely listed as not checked.
func (s batchStep) record(inclusion, batch Check, rep *Report) {
	informs := batch.Code == CodeBatchNotChecked && !s.policy.Strict
	worse, other := inclusion, batch
	if rank(batch) > rank(inclusion) && !(informs && inclusion.Status == StatusPassed) {
		worse, other = batch, inclusion
	}

	worse.nameStep()
	other.nameStep()

	switch worse.Status {
	case StatusFailed:
		rep.fail(worse)
	case StatusNotChecked:
		rep.leave(worse)
	default:
		worse.Step = StepBatch
		rep.Checks = append(rep.Checks, worse)
	}

	// Everything that was not checked is listed, even if something else failed.
	if other.Status == StatusNotChecked {
		rep.NotChecked = append(rep.NotChecked, Note{other.Code, other.Pointer, other.Detail})
	}
}

// rank orders statuses by their effect on the verdict.
func rank(c Check) int {
	switch c.Status {
	case StatusFailed:
		return 3
	case StatusNotChecked:
		return 2
	case StatusPassed:
		return 1
	}
	return 0
}

// weighProofs evaluates the proofs that match the receipt. A single proof is sufficient if its
// checkpoint is trusted and has the required cosignatures. A matching proof with an invalid
// checkpoint refutes the receipt, regardless of the other proofs. A proof that does not match may
// be for another receipt, so it affects the result only if no proof matches.
func (s batchStep) weighProofs(root canon.Node, rep *Report) Check {
	if len(s.evidence.proofs) == 0 {
		return s.unproven()
	}

	// Every proof is tried, because only a proof's path shows which receipt the proof is for.
	t := signatureStep(s).tally(root, rep)
	leaf := CheckpointLeaf(rep.ReceiptHash)
	var stranger, faulty *checkpoint
	var elsewhere *checkpoint // checkpoint of a matching proof, if it differs from the supplied checkpoint
	for i := range s.evidence.proofs {
		p := &s.evidence.proofs[i]
		c := p.checkpoint
		fits := p.leadsTo(leaf) == nil
		if fits && !p.whole {
			s.watched.see(pieceProof, p.given)
		}

		switch {
		case fits && c.fault != "":
			t.included = t.included[:0]
			return checkpointFault(c)
		case fits && s.evidence.demands != nil && !c.sameTree(s.evidence.demands):
			elsewhere = cmp.Or(elsewhere, c)
		case fits && len(c.logs) == 0:
			stranger = cmp.Or(stranger, c)
		case fits:
			t.included = append(t.included, c)
		case c.fault != "":
			faulty = cmp.Or(faulty, c)
		}
	}

	// A matching proof from a trusted log takes precedence over a matching proof from an unknown
	// log.
	switch {
	case len(t.included) > 0:
		return s.weighIncluded(t)
	case stranger != nil:
		return Check{Step: StepBatch, Code: CodeUnknownKey, Reason: fmt.Sprintf("the receipt is in a checkpoint of %s, which no trusted key of that log signed",
			quoted(excerpt([]byte(stranger.claims.Origin))))}
	case s.evidence.demandsUnknown() && faulty == nil:
		return s.evidence.uncompared()
	case elsewhere != nil:
		return Check{Step: StepBatch, Code: CodeCheckpointRequired, Reason: fmt.Sprintf("the proof leads to a checkpoint of %s of size %d, which is not the one that was given",
			quoted(excerpt([]byte(elsewhere.claims.Origin))), elsewhere.claims.Size)}
	}

	return s.weighUnfitting(faulty, leaf)
}

// unproven returns the check for a receipt without proofs.
func (s batchStep) unproven() Check {
	if s.evidence.outside != "" {
		return s.evidence.uncompared()
	}
	if s.policy.Checkpoint.asked() {
		return Check{Step: StepBatch, Code: CodeCheckpointRequired, Reason: "the policy asks for a checkpoint that includes the receipt, and no proof was given"}
	}
	return Check{Step: StepBatch, Status: StatusNotApplicable}
}

// weighUnfitting returns the check for a receipt that matches no proof. An invalid checkpoint takes
// precedence over a path that results in a different root; both refute the receipt.
func (s batchStep) weighUnfitting(faulty *checkpoint, leaf merkle.Hash) Check {
	s.watched.seeAll(pieceProof)
	if faulty != nil {
		return checkpointFault(faulty)
	}
	if i := slices.IndexFunc(s.evidence.proofs, func(p proof) bool { return len(p.checkpoint.logs) > 0 }); i >= 0 {
		return s.proofFault(i, leaf)
	}

	// A path to the root of an unknown log proves nothing, regardless of whether it matches.
	return Check{Step: StepBatch, Code: CodeUnknownKey, Reason: fmt.Sprintf("no trusted key of the log %s signed the checkpoint of the proof",
		quoted(excerpt([]byte(s.evidence.proofs[0].checkpoint.claims.Origin))))}
}

func checkpointFault(c *checkpoint) Check {
	return Check{Step: StepBatch, Status: StatusFailed, Code: CodeCheckpointInvalid, Detail: c.fault}
}

// proofFault describes why the proof at index i does not match the receipt. It is called only if no
// proof matches, for the first proof from a known log.
func (s batchStep) proofFault(i int, leaf merkle.Hash) Check {
	c := Check{Step: StepBatch, Status: StatusFailed, Code: CodeProofInvalid}

	// According to RFC 9162 section 2.1.3.2, a proof can be invalid because of its root, its
	// length, or its index.
	switch err := s.evidence.proofs[i].leadsTo(leaf).(type) {
	case *merkle.RootError:
		c.Stated, c.Computed = err.Want.String(), err.Computed.String()
		c.Detail = fmt.Sprintf("the path from the receipt's hash does not lead to the root of the tree of size %d", err.Size)
	case *merkle.LengthError:
		c.Detail = fmt.Sprintf("the proof has %d hashes, its index and the size of the tree demand %d", err.Found, err.Want)
	default:
		c.Detail = "the index of the proof is not below the size of the tree"
	}

	if more := len(s.evidence.proofs) - 1; more > 0 {
		c.Hint = fmt.Sprintf("none of the %d other proofs fits either", more)
	}
	return c
}

// weighIncluded looks for a checkpoint that meets all requirements.
func (s batchStep) weighIncluded(t *tally) (why Check) {
	for _, c := range t.included {
		found := t.weighCheckpoint(c)
		if found.Status == StatusPassed {
			// Signature lines of unknown keys have no effect (C2SP signed-note), but the report
			// lists them.
			if c.unknown != "" {
				t.rep.NotChecked = append(t.rep.NotChecked, Note{Code: CodeUnknownCosigners, Detail: c.unknown})
			}
			return found
		}
		first(&why, found)
	}
	return why
}

// weighBatches looks for the receipt in the batches. The batch with the root in the receipt
// determines the result. Other batches may contain the same receipt ID.
func (s batchStep) weighBatches(doc *canon.Document, stated canon.Node, hash canon.Digest) Check {
	if len(s.evidence.batches) == 0 {
		if stated.IsZero() {
			return Check{Step: StepBatch, Status: StatusNotApplicable}
		}
		return Check{Step: StepBatch, Code: CodeBatchNotChecked, Reason: noBatch}
	}

	id := doc.Root().Member("receipt_id").Text()
	root, err := canon.ParseDigest(stated.Text())
	var rooted, listed Check

	// A batch is relevant if its root is in the receipt, regardless of which receipts the batch
	// lists.
	for i, b := range s.evidence.batches {
		if err == nil && root == b.Root() {
			s.watched.see(pieceBatch, i)
		}
	}

	// The batch with the root in the receipt determines the result. Another batch that lists the
	// receipt ID is used only to explain the result.
	for _, b := range s.evidence.batches {
		leaf, stated, ok := b.Find(id)
		switch {
		case err == nil && root == b.Root():
			c := s.checkLeaf(doc, id, leaf, ok)
			if c.Status == StatusPassed {
				c = checkListedHash(stated, id, hash)
			}
			if c.Status == StatusPassed {
				return c
			}
			first(&rooted, c)
		case ok && listed.Code == "":
			listed = otherRoot(b, id, root, err == nil)
		}
	}

	if rooted.Code != "" {
		return rooted
	}
	s.watched.seeAll(pieceBatch)
	if listed.Code != "" {
		return listed
	}

	return Check{Step: StepBatch, Code: CodeNotInBatch, Reason: "the receipt is not listed in a batch that was given, nor does it state the root of one"}
}

const rootPointer = "/chain/merkle_root"

// checkLeaf compares the receipt with its leaf in the batch whose root is in the receipt.
func (s batchStep) checkLeaf(doc *canon.Document, id []byte, listed merkle.Hash, ok bool) Check {
	if !ok {
		return Check{Step: StepBatch, Status: StatusFailed, Code: CodeMerkleRootMismatch, Pointer: rootPointer,
			Detail: "the batch with this root does not list " + quoted(excerpt(id))}
	}

	leaf, err := s.batchLeaf(doc)
	if err != nil { // the hash step reports this error
		return Check{Step: StepBatch, Status: StatusFailed, Code: CodeSyntax, Pointer: rootPointer, Detail: err.Error()}
	}

	if leaf != listed {
		return Check{Step: StepBatch, Status: StatusFailed, Code: CodeMerkleRootMismatch, Pointer: rootPointer, Stated: listed.String(), Computed: leaf.String(),
			Detail: "the batch with this root lists another leaf for " + quoted(excerpt(id))}
	}
	return Check{Step: StepBatch, Status: StatusPassed}
}

// checkListedHash compares the hash of the receipt with the hash that the batch lists. A leaf does
// not cover the chain, so a stream can have the same content at two positions. The listed hash
// shows which of these positions is in the batch.
func checkListedHash(listed canon.Digest, id []byte, hash canon.Digest) Check {
	if listed != hash {
		return Check{Step: StepBatch, Status: StatusFailed, Code: CodeMerkleRootMismatch, Pointer: hashPointer, Stated: listed.String(), Computed: hash.String(),
			Detail: "the batch with this root lists another receipt_hash for " + quoted(excerpt(id))}
	}
	return Check{Step: StepBatch, Status: StatusPassed}
}

func (s batchStep) batchLeaf(doc *canon.Document) (merkle.Hash, error) {
	if !s.policy.Plain {
		return BatchLeaf(doc), nil
	}
	content, err := chain.ReferenceContent(doc.Source())
	return merkle.LeafHash(content), err
}

// otherRoot reports that a batch lists the receipt, although the receipt contains a different root
// or none.
func otherRoot(b Batch, id []byte, root canon.Digest, stated bool) Check {
	c := Check{Step: StepBatch, Status: StatusFailed, Code: CodeMerkleRootMismatch, Computed: b.Root().String()}
	if !stated {
		c.Pointer, c.Detail = "/chain", "the batch lists "+quoted(excerpt(id))+", but the receipt states no merkle_root"
		return c
	}
	c.Pointer, c.Stated, c.Hint = rootPointer, root.String(), b.Explain(root)
	c.Detail = "the batch that lists " + quoted(excerpt(id)) + " has another root than the receipt states"
	return c
}

// BatchLeaf returns the leaf hash that represents a receipt or a draft in a batch of the content
// profile. This is SHA-256(0x00 ‖ the RFC 8785 form of the receipt without its members chain and
// signatures). The leaf covers no part of the chain, because the chain depends on the leaves:
// chain.merkle_root is computed from them, and the chain of every later receipt in the batch
// depends on that root through previous_receipt_hash.
func BatchLeaf(d *canon.Document) merkle.Hash {
	root := d.Root()
	return merkle.LeafHash(d.AppendCanonical(nil, root.Member("chain"), root.Member("signatures")))
}

// CheckpointLeaf returns the leaf hash that represents a receipt in the tree of a checkpoint:
// SHA-256(0x00 ‖ the 32 bytes of the receipt hash). The caller must compute the receipt hash from
// the receipt itself, and must not copy the hash from other data.
func CheckpointLeaf(hash canon.Digest) merkle.Hash { return merkle.LeafHash(hash[:]) }
