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

// A Prunable is what was compared with a checkpoint and an archive, and may be pruned.
type Prunable struct {
	Pruning        // without its archive
	Receipts int64 // that have content; 0: all were pruned before

	ledger *database
	from   int64 // sequence of the last receipt that was pruned before
	bytes  int64 // of the receipts that have content
}

// signedBy opens a checkpoint that a trusted key of its log has to have signed. A key that
// was stolen shows nothing.
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

// compare reads the receipts that a checkpoint is over, and the archive beside them. It
// holds no lock: whoever issues meanwhile adds receipts after these.
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

		// Of those that were pruned before the hashes are kept.
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

// contentHash is the hash that is computed from a stored receipt, if it is the one that it
// states.
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

// archived are the receipts of an archive, one after the other.
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

// end makes sure that the archive has no more.
func (a *archived) end() error {
	_, err, more := a.next()
	if err == nil && more {
		err = &ArchiveError{a.read + 1, "", "it is beyond those that the checkpoint is over"}
	}
	return err
}

// Prune takes the content of the receipts out of the ledger. The archive of that name and
// digest has to be the one that they were compared with, and should be on the disk: what
// is gone from the ledger is nowhere else. It returns how many receipts were pruned.
//
// It is one transaction, which takes longer the more receipts there are; others wait for
// it. The error is or wraps ErrPruneChanged, a *[DamageError], ErrNotStored, or what went
// wrong in storing: then they may be pruned or not, all of them or none.
//
// The file keeps its size: new receipts take the place of the old ones, whose bytes are in
// it until then.
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
	// What was compared has to be what is there now. Others can prune, and they can add
	// signatures, which make a receipt longer.
	var from, receipts, bytes int64
	err := tx.QueryRowContext(ctx, "SELECT "+p.ledger.prunedTo()+", count(*), ifnull(sum(length(json)), 0) FROM receipts WHERE seq > ? AND seq <= ?", p.from, p.last).Scan(&from, &receipts, &bytes)
	if err != nil {
		return err
	}
	if from != p.from || receipts != p.Receipts || bytes != p.bytes {
		return ErrPruneChanged
	}

	// Only the hashes stay, so they have to be those that the checkpoint is over.
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
