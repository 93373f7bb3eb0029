package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Pruning explains why the first receipts in a ledger have no content: a checkpoint covers them,
// and an archive contains them. Their IDs, hashes, and positions remain, and all proofs remain
// valid.
type Pruning struct {
	Size       uint64       // number of receipts that the checkpoint covers, including the receipts of earlier prunings
	Root       merkle.Hash  // root of the tree of their hashes
	Checkpoint []byte       // the signed note, byte for byte
	Archive    string       // name of the archive, which contains the receipts that earlier prunings do not cover
	Digest     canon.Digest // SHA-256 digest of the archive

	After int64 // sequence number of the last receipt in the previous pruning, or 0
	Last  int64 // sequence number of the last receipt
}

// Origin returns the name of the log that signed the checkpoint.
func (p *Pruning) Origin() string {
	signed, err := tlog.OpenSigned(p.Checkpoint, nil, nil)
	if err != nil {
		return ""
	}
	return signed.Origin
}

// A PrunedError indicates that the content of a receipt is in an archive and is no longer in the
// ledger.
type PrunedError struct {
	ID      string // receipt_id
	Hash    canon.Digest
	Stream  chain.Stream
	Pruning Pruning // the pruning that moved the content to the archive
}

// Error returns a message with the receipt, its archive, and the checkpoint.
func (e *PrunedError) Error() string {
	return fmt.Sprintf("ledger: receipt %.200q was pruned: it is in the archive %.200q (%v), under the checkpoint of %.200q over %d receipts",
		e.ID, e.Pruning.Archive, e.Pruning.Digest, e.Pruning.Origin(), e.Pruning.Size)
}

// Prunings returns the prunings of a ledger, oldest first. If a pruning does not match the hashes
// of the receipts, the error is a *[Fault].
func Prunings(ctx context.Context, p Pruner) ([]Pruning, error) {
	list, err := p.Prunings(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	if err := proven(list, p.Hashes(ctx, list[len(list)-1].Last)); err != nil {
		return nil, err
	}
	return list, nil
}

// proven compares prunings with the hashes of all receipts that the prunings cover, in order. The
// error is an error from hashes, or a *Fault for the first pruning that does not match.
func proven(list []Pruning, hashes iter.Seq2[Row, error]) error {
	next, stop := iter.Pull2(hashes)
	defer stop()

	// The tree of all receipts contains the trees of the earlier prunings (RFC 9162 section 2.1).
	var tree merkle.Tree
	var sequence, before int64
	for i := range list {
		for sequence < list[i].Last {
			kept, err, more := next()
			if err != nil {
				return err
			}
			if !more {
				break
			}
			sequence = kept.Sequence
			tree.Append(receipt.CheckpointLeaf(kept.Hash))
		}

		if f := list[i].faulty(&tree, sequence); f != nil {
			return f
		}
		if list[i].After != before {
			return list[i].alone()
		}
		before = list[i].Last
	}
	return nil
}

// alone returns the fault for a pruning that does not begin where the previous pruning ends.
func (p *Pruning) alone() *Fault {
	return p.fault(FaultMissing, "the pruning of %d receipts does not begin where the one before it ends: the row of a pruning is gone, and with it the name of an archive", p.Size)
}

// faulty compares a pruning with the tree of the receipts up to the given sequence number.
func (p *Pruning) faulty(tree *merkle.Tree, sequence int64) *Fault {
	signed, err := tlog.OpenSigned(p.Checkpoint, nil, nil)
	switch {
	case err != nil:
		return p.fault(string(receipt.CodeCheckpointInvalid), "the checkpoint that %d receipts were pruned under cannot be read: %v", p.Size, err)
	case signed.Size != p.Size || signed.Root != p.Root:
		return p.fault(FaultRow, "%d receipts are recorded as pruned, but the checkpoint covers %d", p.Size, signed.Size)
	case tree.Size() != p.Size || sequence != p.Last:
		return p.fault(FaultMissing, "of %d receipts that were pruned the ledger has the hashes of %d", p.Size, tree.Size())
	case tree.Root() != p.Root:
		return p.fault(string(receipt.CodeMerkleRootMismatch), "the hashes of the %d receipts that were pruned have the root %v, the checkpoint over them states %v", p.Size, tree.Root(), p.Root)
	}
	return nil
}

func (p *Pruning) fault(code, format string, args ...any) *Fault {
	return &Fault{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// pruneFailure returns an error with the reason why nothing may be pruned.
func pruneFailure(code receipt.Code, format string, args ...any) error {
	return &PruneError{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// A PruneError describes why receipts may not be pruned. Nothing was changed.
type PruneError struct {
	// Code is CodeCheckpointInvalid, CodeUnknownKey, or CodeKeyRevoked if the checkpoint itself is
	// the reason. It is CodeTruncated if the checkpoint covers more receipts than the ledger has,
	// and CodeMerkleRootMismatch if the checkpoint covers different receipts. Code is "" if the
	// archive does not contain exactly the receipts to be pruned, byte for byte and in the same
	// order.
	Code   receipt.Code
	Index  uint64 // number of the receipt in the archive, from 1; 0 if the reason is the checkpoint
	ID     string // receipt_id of the stored receipt with that number, or ""
	Detail string
}

// Error returns the location and the reason.
func (e *PruneError) Error() string {
	if e.Index > 0 {
		return fmt.Sprintf("ledger: nothing was pruned: receipt %d of the archive: %s", e.Index, e.Detail)
	}
	return fmt.Sprintf("ledger: nothing was pruned: %s: %s", e.Code, e.Detail)
}

// ErrPruneChanged indicates that another process pruned receipts while they were being read, or
// signed them while they were being compared with an archive. The caller must start over.
var ErrPruneChanged = errors.New("ledger: other processes pruned or signed the receipts in the meantime")
