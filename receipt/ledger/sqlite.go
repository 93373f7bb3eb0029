package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// SQLite is a [Store] in one SQLite file, for any number of processes of one
// machine. The file must not be on a network file system: SQLite's locks do not
// hold there.
//
// It is written with a write-ahead log and synchronous=FULL: what Append returned
// for survives a crash of the process and of the machine, as far as the disk tells
// the truth. FILE-head beside it says where it ends.
type SQLite struct {
	*database
	reader
	writer
}

// Create makes a new ledger. A file that exists already is left as it is, and the
// error is fs.ErrExist.
func Create(ctx context.Context, path string) (*SQLite, error) {
	for _, suffix := range []string{"", "-wal", headSuffix} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return nil, &fs.PathError{Op: "create", Path: path + suffix, Err: fs.ErrExist} // or left of one that was lost
		}
	}

	// O_EXCL: of two who create it, one does.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}

	l, err := open(ctx, path, "rw", migrations())
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}

	return l, nil
}

// Open opens a ledger. When there is none, the error is fs.ErrNotExist. The tables
// of an older version are brought up to date; those of a newer one are refused. A
// ledger that lacks what was stored in it once is a *[RolledBackError].
func Open(ctx context.Context, path string) (*SQLite, error) {
	return open(ctx, path, "rw", migrations())
}

// OpenReadOnly opens a ledger that is only to be read, of this version or an older
// one. It, its folder and the medium may be read-only.
func OpenReadOnly(ctx context.Context, path string) (*SQLite, error) {
	return open(ctx, path, "ro", migrations())
}

func open(ctx context.Context, path, mode string, steps []string) (*SQLite, error) {
	watched, err := watch(path)
	if err != nil {
		return nil, err
	}
	db := &database{path: path, files: watched, steps: steps, reads: make(chan struct{}, readers(mode))}
	if err := db.connect(ctx, mode); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &SQLite{db, reader{db}, writer{db}}, nil
}

// Sign adds a signature to a stored receipt, as its issuer or as a witness, and
// returns it: its hash stays, signatures lie outside of it. A receipt that has a
// signature with the signer's key_id stays as it is.
//
// The error is or wraps ErrNotFound, what Get or the signer said, ErrNotStored, or
// what went wrong in storing: then the signature may be stored, and Sign may be
// called again.
func (l *SQLite) Sign(ctx context.Context, receiptID string, signer receipt.Signer) (*receipt.Sealed, error) {
	for range signTries {
		sealed, err := l.Get(ctx, receiptID)
		if err != nil {
			return nil, err
		}

		signed, err := sealed.Sign(ctx, signer)
		if err != nil {
			return nil, err
		}
		if signedTwice(signed) {
			return sealed, nil
		}

		// Nothing was locked while it was signed, so others may have signed it meanwhile.
		replaced, err := replaceReceipt(ctx, l.database, sealed, signed)
		if err != nil {
			return nil, err
		}
		if replaced {
			return signed, nil
		}
	}
	return nil, fmt.Errorf("%w: receipt %.200q was changed by others %d times while it was signed", ErrNotStored, receiptID, signTries)
}

// Import stores receipts that others issued. Each must be verified by v and follow
// the head of its stream; of a stream that the ledger does not have, the first.
// Receipts that are there already are counted as copies, so that an import can be
// repeated. It ends at the first receipt that cannot be stored.
func (l *SQLite) Import(ctx context.Context, v *receipt.Verifier, receipts iter.Seq2[[]byte, error]) (Imported, error) {
	i := &importer{SQLite: l, ctx: ctx, verifier: v}
	for data, err := range receipts {
		if err == nil {
			err = i.add(data)
		}
		if err == nil {
			continue
		}

		// A receipt that waits may be wrong too, and comes before this one.
		if earlier := i.flush(); earlier != nil {
			err = earlier
		}
		return i.count, err
	}
	err := i.flush()
	return i.count, err
}

// Check reads all of the ledger: SQLite's own structures, each receipt, its row,
// its place in the chain, and the heads. It verifies receipts with v; a v for
// integrity only checks no signatures. Each fault is given to report as it is
// found. Seen, unless it is nil, is told how many receipts were read so far: 0 once the
// file's structures are checked, which takes long in a large one. The error is about the
// check itself: with one the ledger was not checked to its end.
//
// Receipts that were removed at the end of a stream together with its head leave
// no trace inside. FILE-head shows it where it is; else compare the heads with ones
// that were kept elsewhere.
func (l *SQLite) Check(ctx context.Context, v *receipt.Verifier, report func(Fault), seen func(receipts int)) (*Checked, error) {
	db, err := l.pool(1, l.query) // it takes long, and report may read
	if err != nil {
		return nil, err
	}
	defer db.Close()

	c := &checker{ledger: l, db: db, ctx: ctx, verifier: v, tell: report, seen: seen}
	if seen == nil {
		c.seen = func(int) {}
	}
	steps := []func() error{c.file, c.mark, c.prunings, c.chains, c.strays}
	for _, step := range steps {
		if err := step(); err != nil {
			return &c.Checked, err
		}
	}
	return &c.Checked, ctx.Err()
}

// Prunable compares the first receipts of the ledger with a checkpoint that is over them
// and with an archive, so that their content can be taken out of the ledger. A key of
// trust has to have signed the checkpoint. The archive gives the receipts that were not
// pruned before, their JSON as it is stored, in the order of Scan, and no others.
//
// Nothing is changed or locked, whatever it returns. The error is a *[PruneError], an
// *[ArchiveError], a *[DamageError], what the archive said, or of reading.
func (l *SQLite) Prunable(ctx context.Context, trust receipt.LogTrust, checkpoint []byte, archive iter.Seq2[[]byte, error]) (*Prunable, error) {
	if l.write == nil {
		return nil, fmt.Errorf("ledger: prune: %q is open for reading only", l.path)
	}
	signed, err := signedBy(trust, checkpoint)
	if err != nil {
		return nil, err
	}

	p := &Prunable{Pruning: Pruning{Size: signed.Size, Root: signed.Root, Checkpoint: checkpoint}, ledger: l.database}
	if err := p.compare(ctx, l.Scan(ctx, Query{Pruned: true}), archive); err != nil {
		return nil, err
	}
	return p, nil
}

// Tree returns the tree of a checkpoint over the receipts of a query, in the order
// of Scan, pruned ones too. Its leaves are of the hashes that are computed from the
// receipts, not of those that are stored beside them; of those that were pruned, of the
// hashes that have the roots of their checkpoints.
func (l *SQLite) Tree(ctx context.Context, q Query) (*merkle.Tree, error) {
	if _, err := l.Prunings(ctx); err != nil {
		return nil, err
	}

	q.Pruned = true
	tree, doc := new(merkle.Tree), new(canon.Document)
	for e, err := range l.Scan(ctx, q) {
		if err != nil {
			return nil, err
		}

		// The leaf is of the content, whatever the row or the receipt states.
		hash := e.Hash
		if e.JSON != nil {
			if hash, err = contentHash(doc, &e); err != nil {
				return nil, err
			}
		}
		tree.Append(receipt.CheckpointLeaf(hash))
	}

	return tree, nil
}

// signTries is how often Sign begins anew, when others sign the receipt as well.
const signTries = 64

// replaceReceipt stores a receipt with one signature more, if it is what it was.
func replaceReceipt(ctx context.Context, l *database, was, signed *receipt.Sealed) (replaced bool, err error) {
	err = l.store(ctx, "store a signature", nil, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, "UPDATE receipts SET json = ? WHERE receipt_id = ? AND json = ?", signed.JSON(), was.ID(), was.JSON())
		if err != nil {
			return err
		}

		n, err := r.RowsAffected()
		if err == nil && n == 0 {
			err = errChanged
		}
		return err
	})

	// The error took the transaction back: nothing was written over what others stored.
	if errors.Is(err, errChanged) {
		return false, nil
	}
	return err == nil, err
}

var errChanged = errors.New("the receipt has changed")

// signatures are the key ids of a receipt's signatures.
func signatures(sealed *receipt.Sealed) (ids []string) {
	for _, s := range sealed.Document().Root().Member("signatures").Elements() {
		ids = append(ids, s.Member("key_id").String())
	}
	return ids
}

// signedTwice reports whether the last signature is of a key that has one before.
func signedTwice(sealed *receipt.Sealed) bool {
	ids := signatures(sealed)
	last := len(ids) - 1
	for i, id := range ids {
		if i < last && id == ids[last] {
			return true
		}
	}
	return false
}
