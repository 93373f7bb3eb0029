package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Prunable is a set of receipts that was compared with a checkpoint and an archive, and may be
// pruned.
type Prunable struct {
	Pruning        // without its archive
	Receipts int64 // with content; 0: all were pruned before

	ledger *database
	from   int64 // sequence of the last receipt that was already pruned
	bytes  int64 // of the receipts with content
}

// signedBy opens a checkpoint that a trusted key of its log must have signed. A stolen key proves
// nothing.
func signedBy(trust receipt.LogTrust, note []byte) (*tlog.Signed, error) {
	var logs []*tlog.Log
	for _, k := range trust.NoteKeys() {
		if !k.Has(receipt.RoleCheckpoint) || k.Origin == "" {
			continue
		}
		if log, err := tlog.NewLog(k.Origin, k.Public); err == nil { // others sign no note
			logs = append(logs, log)
		}
	}

	c, err := tlog.OpenSigned(note, logs, nil)
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
		return nil, pruneFailure(receipt.CodeCheckpointInvalid, "the checkpoint is over no receipt")
	}
	return c, nil
}

// compare reads the receipts of a checkpoint together with the archive. It holds no lock: receipts
// that are issued in the meantime follow these.
func (p *Prunable) compare(ctx context.Context, receipts iter.Seq2[Entry, error], archive iter.Seq2[[]byte, error]) error {
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

		// Of already pruned receipts, the hashes are kept.
		hash := e.Hash
		if e.JSON == nil {
			p.from = e.Sequence
		} else if hash, err = contentHash(doc, &e); err == nil {
			err = copies.same(&e)
			p.Receipts, p.bytes = p.Receipts+1, p.bytes+int64(len(e.JSON))
		}
		if err != nil {
			return err
		}

		tree.Append(receipt.CheckpointLeaf(hash))
		if p.last = e.Sequence; tree.Size() == p.Size {
			break
		}
	}

	switch {
	case tree.Size() < p.Size:
		return pruneFailure(receipt.CodeTruncated, "the checkpoint is over %d receipts, the ledger has %d", p.Size, tree.Size())
	case tree.Root() != p.Root:
		return pruneFailure(receipt.CodeMerkleRootMismatch, "the first %d receipts of the ledger have the root %v, the checkpoint states %v", p.Size, tree.Root(), p.Root)
	case p.Receipts == 0:
		return nil // the archive is that of the earlier pruning
	}
	return copies.end()
}

// contentHash returns the hash that is computed from a stored receipt, if the receipt states the
// same one.
func contentHash(doc *canon.Document, e *Entry) (canon.Digest, error) {
	if err := doc.Parse(e.JSON, canon.Limits{}); err != nil {
		return canon.Digest{}, unreadable(e.ID, chain.Stream{}, err)
	}
	hash, err := chain.Hash(doc)
	if link, ok := chain.LinkOf(doc); err != nil || !ok || link.Hash != hash {
		return hash, &DamageError{string(receipt.CodeHashMismatch), e.ID, chain.StreamOf(doc), "its content does not fit its hash"}
	}
	return hash, nil
}

// archived yields the receipts of an archive in order.
type archived struct {
	next func() ([]byte, error, bool)
	read uint64
}

// same compares the next receipt of the archive with a stored one.
func (a *archived) same(e *Entry) error {
	json, err, more := a.next()
	switch a.read++; {
	case !more:
		return &ArchiveError{a.read, e.ID, fmt.Sprintf("the archive ends before it, and lacks %.200q", e.ID)}
	case err != nil:
		return err
	case !bytes.Equal(json, e.JSON):
		return &ArchiveError{a.read, e.ID, fmt.Sprintf("it is not, byte for byte, %.200q, which is stored in its place", e.ID)}
	}
	return nil
}

// end makes sure that the archive has no more receipts.
func (a *archived) end() error {
	_, err, more := a.next()
	if err == nil && more {
		err = &ArchiveError{a.read + 1, "", "it is beyond those that the checkpoint is over"}
	}
	return err
}

// Prune removes the content of the receipts from the ledger. The archive with that name and digest
// must be the one that the receipts were compared with, and should be on the disk: the ledger has
// no other copy. It returns how many receipts were pruned.
//
// Prune is one transaction, whose duration depends on the number of receipts; other writers wait
// for it. The error is or wraps ErrPruneChanged, a *[DamageError], or ErrNotStored. After any other
// error, either all receipts are pruned or none.
//
// The file keeps its size. New receipts overwrite the old ones, whose bytes are in the file until
// then.
func (p *Prunable) Prune(ctx context.Context, archive string, digest canon.Digest) (receipts int64, err error) {
	if p.Receipts == 0 {
		return 0, nil
	}
	p.Archive, p.Digest = archive, digest
	err = p.ledger.store(ctx, "prune", nil, func(tx *sql.Tx) error { return p.prune(ctx, tx) })
	if err != nil {
		return 0, err
	}
	return p.Receipts, nil
}

func (p *Prunable) prune(ctx context.Context, tx *sql.Tx) error {
	// The ledger must still have what was compared. In the meantime, others may have pruned
	// receipts or added signatures, which make a receipt longer.
	var from, receipts, bytes int64
	err := tx.QueryRowContext(ctx, "SELECT "+p.ledger.prunedTo()+", count(*), ifnull(sum(length(json)), 0) FROM receipts WHERE seq > ? AND seq <= ?", p.from, p.last).Scan(&from, &receipts, &bytes)
	if err != nil {
		return err
	}
	if from != p.from || receipts != p.Receipts || bytes != p.bytes {
		return ErrPruneChanged
	}

	// Only the hashes stay, so they must be those of the checkpoint.
	fault, err := proven(ctx, tx, []Pruning{p.Pruning})
	if err != nil {
		return err
	}
	if fault != nil {
		return fault.damage()
	}

	if _, err := tx.ExecContext(ctx, "UPDATE receipts SET json = x'' WHERE seq > ? AND seq <= ?", p.from, p.last); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO prunings (size, after, last, root, checkpoint, archive, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
		p.Size, p.from, p.last, p.Root[:], p.Checkpoint, p.Archive, p.Digest[:])
	return err
}
