package ledger

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Cut describes receipts that may be pruned, because they have been compared with a checkpoint
// and an archive.
type Cut struct {
	Pruning        // without its archive
	Receipts int64 // number of receipts that have content; 0 if all were pruned earlier
	Bytes    int64 // of these receipts
}

// Prunable compares the first receipts in the ledger with a checkpoint that covers them and with an
// archive. If all of them match, the content of these receipts can be removed from the ledger. The
// checkpoint must have been signed by a key in trust. The archive must yield exactly the receipts
// that have not been pruned, as JSON, in the form in which they are stored and in the order of
// Walk.
//
// Prunable does not change or lock anything. The error is a *[PruneError], a *[Fault], an error
// from the archive, or an error from reading the ledger.
func Prunable(ctx context.Context, p Pruner, trust receipt.LogTrust, checkpoint []byte, archive iter.Seq2[[]byte, error]) (*Cut, error) {
	signed, err := signedBy(trust, checkpoint)
	if err != nil {
		return nil, err
	}

	c := &Cut{Pruning: Pruning{Size: signed.Size, Root: signed.Root, Checkpoint: checkpoint}}
	if err := c.compare(ctx, p.Walk(ctx, Query{Pruned: true}, 0), archive); err != nil {
		return nil, err
	}
	return c, nil
}

// signedBy opens a checkpoint, which must be signed by a trusted key of its log. A signature with a
// stolen key proves nothing.
func signedBy(trust receipt.LogTrust, note []byte) (*tlog.Signed, error) {
	c, err := tlog.OpenSigned(note, receipt.Logs(trust), nil)
	if err != nil {
		return nil, pruneFailure(receipt.CodeCheckpointInvalid, "%v", err)
	}
	switch key, code := receipt.CheckpointSigner(trust, c); code {
	case receipt.CodeKeyRevoked:
		return nil, pruneFailure(code, "the checkpoint is signed by %q, which is revoked", key.ID)
	case receipt.CodeUnknownKey:
		return nil, pruneFailure(code, "no trusted key of the log %q signed the checkpoint", c.Origin)
	}
	if c.Size == 0 {
		return nil, pruneFailure(receipt.CodeCheckpointInvalid, "the checkpoint covers no receipts")
	}
	return c, nil
}

// compare reads the receipts that a checkpoint covers, together with the archive. It holds no lock,
// because receipts that are issued in the meantime come after these receipts.
func (p *Cut) compare(ctx context.Context, receipts iter.Seq2[Row, error], archive iter.Seq2[[]byte, error]) error {
	copies := &archived{}
	var stop func()
	copies.next, stop = iter.Pull2(archive)
	defer stop()

	var tree merkle.Tree
	doc := new(canon.Document)
	for e, err := range receipts {
		if err != nil {
			return err
		}

		// For receipts that were pruned earlier, the stored hashes are used.
		hash := e.Hash
		if e.Pruned {
			p.After = e.Sequence
		} else if hash, err = contentHash(doc, &e); err == nil {
			err = copies.same(&e)
			p.Receipts, p.Bytes = p.Receipts+1, p.Bytes+int64(len(e.JSON))
		}
		if err != nil {
			return err
		}

		tree.Append(receipt.CheckpointLeaf(hash))
		if p.Last = e.Sequence; tree.Size() == p.Size {
			break
		}
	}

	switch {
	case tree.Size() < p.Size:
		return pruneFailure(receipt.CodeTruncated, "the checkpoint covers %d receipts, the ledger has %d", p.Size, tree.Size())
	case tree.Root() != p.Root:
		return pruneFailure(receipt.CodeMerkleRootMismatch, "the first %d receipts of the ledger have the root %v, the checkpoint states %v", p.Size, tree.Root(), p.Root)
	case p.Receipts == 0:
		return nil // the archive is the one from the earlier pruning
	}
	return copies.end()
}

// Compare checks that a ledger still contains the receipts that were compared with the checkpoint
// and the archive. A Pruner calls it in the transaction of [Pruner.Cut]. after is the sequence
// number of the last pruned receipt, or 0 if none has been pruned. receipts is the number of rows
// after c.After up to c.Last, and bytes is the total length of their JSON. hashes yields all rows
// up to c.Last.
func (c *Cut) Compare(after, receipts, bytes int64, hashes iter.Seq2[Row, error]) error {
	// Since the comparison, other processes may have pruned receipts, or added signatures, which
	// make receipts longer.
	if after != c.After || receipts != c.Receipts || bytes != c.Bytes {
		return ErrPruneChanged
	}

	// Only the hashes of these receipts remain, so they must match the checkpoint.
	whole := c.Pruning
	whole.After = 0 // as if there were no earlier pruning
	return proven([]Pruning{whole}, hashes)
}

// archived yields the receipts in an archive, in order.
type archived struct {
	next func() ([]byte, error, bool)
	read uint64
}

// same compares the next receipt in the archive with a stored receipt.
func (a *archived) same(e *Row) error {
	json, err, more := a.next()
	switch a.read++; {
	case !more:
		return &PruneError{Index: a.read, ID: e.ID, Detail: fmt.Sprintf("the archive ends before it, and lacks %.200q", e.ID)}
	case err != nil:
		return err
	case !bytes.Equal(json, e.JSON):
		return &PruneError{Index: a.read, ID: e.ID, Detail: fmt.Sprintf("it differs from %.200q, which is stored at this position", e.ID)}
	}
	return nil
}

// end checks that the archive contains no further receipts.
func (a *archived) end() error {
	_, err, more := a.next()
	if err == nil && more {
		err = &PruneError{Index: a.read + 1, Detail: "it is after the receipts that the checkpoint covers"}
	}
	return err
}

// Prune removes the content of the receipts in c from the ledger. archive and digest must be the
// name and digest of the archive with which the receipts were compared. The archive should be in
// durable storage, because it becomes the only copy of the content. Prune returns the number of
// receipts that were pruned.
//
// Prune uses a single transaction, for which other writers wait. The more receipts there are, the
// longer the transaction takes. The error is the error from [Pruner.Cut].
func Prune(ctx context.Context, p Pruner, c *Cut, archive string, digest canon.Digest) (receipts int64, err error) {
	if c.Receipts == 0 {
		return 0, nil
	}
	c.Archive, c.Digest = archive, digest
	if err := p.Cut(ctx, c); err != nil {
		return 0, err
	}
	return c.Receipts, nil
}
