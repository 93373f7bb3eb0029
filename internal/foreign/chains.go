package foreign

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// maxChained is the number of receipts in a source whose hashes are kept. Links to further receipts
// stay unchecked.
const maxChained = 1 << 16

// Chains links the third-party receipts in one source to their predecessors. The zero value of
// Chains is ready to use.
//
// Predecessors are found by hash, so a source may contain several chains. A link is reported as
// broken only if the previous document in the source is verified and states the same chain and the
// predecessor's number, but has another hash. Otherwise, the predecessor may just be absent from
// the source, and the link stays unchecked.
type Chains struct {
	byHash map[canon.Digest]chained
	next   map[canon.Digest]canon.Digest // maps each predecessor to the first receipt that names it
	last   *chained                      // the previous document; nil if it is not verified or not a chained receipt
}

// A chained value describes a receipt that has a place in a chain.
type chained struct {
	format string
	place  receipt.ForeignPlace
	chain  *thread
}

// A thread is the part of a chain whose receipts have been linked.
type thread struct {
	actions map[string]bool
	denied  map[string]bool
}

// Skip records that the current document is not a chained third-party receipt.
func (c *Chains) Skip() { c.last = nil }

// Follow checks the place of a receipt in the source, and adds the result to its report. If partial
// is set, the source is a selection, so a gap between consecutive receipts is not reported as a
// broken link.
func (c *Chains) Follow(v *receipt.Verifier, f *receipt.Foreign, partial bool, rep *receipt.Report) {
	before := c.last
	if c.Skip(); rep.Verdict == receipt.Refuted {
		return
	}
	if c.byHash == nil {
		c.byHash, c.next = map[canon.Digest]chained{}, map[canon.Digest]canon.Digest{}
	}

	// If the predecessor is not in the source, the link is unchecked.
	named, other := c.byHash[f.Place.Previous], c.next[f.Place.Previous]
	chain := named.chain
	switch {
	case f.Place.Previous.IsZero():
		chain = nil
	case chain != nil && (named.place.Last || f.Place.Sequence >= 0 && f.Place.Sequence != named.place.Sequence+1 && f.Format != "ael-line"): // AEL permits gaps
		v.Amend(rep, receipt.Check{Step: receipt.StepLink, Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Stated: f.Place.Previous.String(),
			Detail: fmt.Sprintf("the receipt with this hash has the number %d, or ends the chain", named.place.Sequence)})
	case chain != nil && !other.IsZero() && other != f.Hash:
		v.Amend(rep, receipt.Check{Step: receipt.StepLink, Code: receipt.CodeLinkNotChecked, Detail: "another receipt of the source names the same predecessor"})
	case chain != nil:
		c.link(v, f, chain, rep)
	case !partial && before != nil && before.format == f.Format && before.place.Chain == f.Place.Chain && f.Place.Sequence > 0 && before.place.Sequence == f.Place.Sequence-1:
		v.Amend(rep, receipt.Check{Step: receipt.StepLink, Status: receipt.StatusFailed, Code: receipt.CodeChainBreak, Stated: f.Place.Previous.String(),
			Detail: fmt.Sprintf("the receipt before it has the number %d, and another hash than the stated one", before.place.Sequence)})
	}
	if rep.Verdict != receipt.Refuted {
		c.add(f, chain)
	}
	if rep.Verdict == receipt.Verified { // an unverified document could falsely claim to be the predecessor
		c.last = &chained{f.Format, *f.Place, chain}
	}
}

// link checks a receipt whose predecessor was found.
func (c *Chains) link(v *receipt.Verifier, f *receipt.Foreign, chain *thread, rep *receipt.Report) {
	if id := f.Place.ActionID; id != "" && chain.actions[id] {
		v.Amend(rep, receipt.Check{Step: receipt.StepLink, Status: receipt.StatusFailed, Code: receipt.CodeDuplicateID, Stated: id, Detail: "the chain contains another receipt with this action_id"})
		return
	}

	// Both decisions may be authentic, so a reversal is only a warning.
	v.Amend(rep, receipt.Check{Step: receipt.StepLink, Status: receipt.StatusPassed})
	if f.Place.Allowed && chain.denied[f.Place.Request] {
		rep.Warnings = append(rep.Warnings, receipt.Note{Code: receipt.CodeDecisionReversed, Detail: "an earlier receipt of the chain denies the same request"})
	}
}

// add records a receipt that continues a chain or begins a new one.
func (c *Chains) add(f *receipt.Foreign, chain *thread) {
	if f.Hash.IsZero() || len(c.byHash) >= maxChained {
		return
	}
	if chain == nil {
		chain = &thread{map[string]bool{}, map[string]bool{}}
	}

	// If several receipts name the same predecessor, the first receipt is its successor.
	c.byHash[f.Hash] = chained{f.Format, *f.Place, chain}
	if _, named := c.next[f.Place.Previous]; !named {
		c.next[f.Place.Previous] = f.Hash
	}
	if f.Place.ActionID != "" {
		chain.actions[f.Place.ActionID] = true
	}
	if f.Place.Denied {
		chain.denied[f.Place.Request] = true
	}
}
