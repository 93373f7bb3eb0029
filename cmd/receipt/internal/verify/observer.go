package verify

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/statement"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An observer records facts about a run, with which statements are later compared.
type observer struct {
	ordered    bool                // the receipts are read in stream order
	checkpoint *receipt.Checkpoint // nil: none

	stated  map[canon.Digest]bool   // heads in all statements
	numbers map[canon.Digest]uint64 // position in the input, starting at 1, of each stated head that was read
	count   uint64                  // number of receipts that were read
	tree    merkle.Tree
	refused bool // a receipt within the size of the checkpoint is not known to be included
	covers  bool // the checkpoint covers the first receipts
}

// watch prepares the observer to record the heads in statements.
func (o *observer) watch(streams map[chain.Stream][]*statement.Signed) {
	o.stated, o.numbers = map[canon.Digest]bool{}, map[canon.Digest]uint64{}
	for _, list := range streams {
		for _, s := range list {
			o.stated[s.Head] = true
		}
	}
}

// add records a report. If there are no statements, nothing is recorded.
func (o *observer) add(rep *receipt.Report) {
	if o.stated == nil || rep.ReceiptHash.IsZero() {
		return
	}
	o.count++
	if _, known := o.numbers[rep.ReceiptHash]; o.stated[rep.ReceiptHash] && !known {
		o.numbers[rep.ReceiptHash] = o.count
	}

	if o.checkpoint == nil || o.count > o.checkpoint.Claims.Size {
		return
	}
	o.tree.Append(receipt.CheckpointLeaf(rep.ReceiptHash))
	o.refused = o.refused || rep.Check(receipt.StepBatch).Status != receipt.StatusPassed
	if o.count == o.checkpoint.Claims.Size {
		o.covers = !o.refused && o.tree.Root() == o.checkpoint.Claims.Root
	}
}

// stream returns the facts that the input shows about a stream. If a stream has several segments,
// it has gaps. If the input is incomplete, receipts may be missing.
func (o *observer) stream(v *receipt.Verifier, sum *stream.Summary, s chain.Stream) statement.Observed {
	seen := statement.Observed{First: true, Partial: sum.Partial || !sum.Complete}
	found := 0
	for _, g := range sum.Streams {
		if g.Stream == s {
			found++
			seen.Count, seen.Head, seen.First = g.Count, g.Head, g.First
		}
	}
	if found > 1 {
		return statement.Observed{Partial: seen.Partial}
	}
	if seen.Partial || found == 0 {
		return seen
	}

	// If the input contains only one stream, the position of a receipt in the input is also its
	// position in the stream.
	alone := len(sum.Streams) == 1 && sum.Copies == 0
	seen.Numbers = map[canon.Digest]uint64{}
	for d, n := range o.numbers {
		if seen.Numbers[d] = 0; alone && o.ordered {
			seen.Numbers[d] = n
		}
	}

	// Only in this case is the tree the stream's tree.
	if alone && seen.First && o.covers {
		if at, _ := v.Witnessed(o.checkpoint); !at.IsZero() {
			seen.Checkpoints = []statement.Checkpoint{{Size: o.checkpoint.Claims.Size, At: at}}
		}
	}
	return seen
}

// anchored returns whether the streams meet the conditions of AEL level 3 (checks n to q and u).
// These conditions require a log that includes all receipts, and whose key is not an issuer's key.
// If the streams do not meet level 1, below contains the reason.
func (o *observer) anchored(v *receipt.Verifier, sum *stream.Summary, below string) stream.Level {
	l := stream.Level{Number: 3}
	switch {
	case below != "":
		l.Detail = "level 1 is not met"
	case o.checkpoint == nil:
		l.Detail = "no checkpoint of the receipts was given"
	case !o.covers || o.checkpoint.Claims.Size != o.count || sum.Copies > 0:
		l.Detail = "the checkpoint does not include all receipts"
	default:
		if _, l.Met = v.Witnessed(o.checkpoint); !l.Met {
			l.Detail = "the key of the log is one of an issuer"
		}
	}
	return l
}
