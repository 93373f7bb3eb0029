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

// SQLite is a [Store] in one SQLite file, for any number of processes of one machine. The file must
// not be on a network file system, because SQLite's locks do not work there.
//
// It is written with a write-ahead log and synchronous=FULL: appended receipts survive a crash of
// the process and of the machine, as far as the disk is reliable. FILE-head, next to the ledger,
// records where the ledger ends.
type SQLite struct {
	*database
	reader
	writer
}

// Create creates a new ledger. An existing file is not changed, and the error is fs.ErrExist.
func Create(ctx context.Context, path string) (*SQLite, error) {
	for _, suffix := range []string{"", "-wal", headSuffix} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return nil, &fs.PathError{Op: "create", Path: path + suffix, Err: fs.ErrExist} // or remains from a lost ledger
		}
	}

	// O_EXCL: of two processes that create it, one succeeds.
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

// Open opens a ledger. If there is none, the error is fs.ErrNotExist. The tables of an older
// version are brought up to date; those of a newer one are refused. For a ledger that lacks data
// that was once stored in it, the error is a *[RolledBackError].
func Open(ctx context.Context, path string) (*SQLite, error) {
	return open(ctx, path, "rw", migrations())
}

// OpenReadOnly opens a ledger of this version or an older one for reading only. The file, its
// directory, and the medium may be read-only.
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

// Sign adds a signature to a stored receipt, as its issuer or as a witness, and returns the
// receipt. Its hash stays the same, because it does not cover signatures. A receipt that already
// has a signature with the signer's key_id does not change.
//
// The error is or wraps ErrNotFound, an error of Get or of the signer, or ErrNotStored. After any
// other error, the signature may be stored, and Sign may be called again.
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

		// Nothing was locked during signing, so others may have signed the receipt.
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

// Import stores receipts that others issued. Each must be verified by v and follow the head of its
// stream, or be the first of a new stream. Receipts that are already stored are counted as copies,
// so an import can be repeated. It ends at the first receipt that cannot be stored.
func (l *SQLite) Import(ctx context.Context, v *receipt.Verifier, receipts iter.Seq2[[]byte, error]) (Imported, error) {
	i := &importer{SQLite: l, ctx: ctx, verifier: v}
	for data, err := range receipts {
		if err == nil {
			err = i.add(data)
		}
		if err == nil {
			continue
		}

		// A waiting receipt may be invalid too, and comes before this one.
		if earlier := i.flush(); earlier != nil {
			err = earlier
		}
		return i.count, err
	}
	err := i.flush()
	return i.count, err
}

// Check reads the entire ledger: SQLite's own structures, each receipt, its row, its position in
// the chain, and the heads. It verifies receipts with v; a v for integrity only checks no
// signatures. Each fault is passed to report when it is found. Seen, unless it is nil, is called
// with the number of receipts that were read: with 0 after the check of the file's structures,
// which takes long in a large file. The error concerns the check itself: with an error, the ledger
// was not checked to its end.
//
// Receipts that were removed at the end of a stream together with its head leave no trace in the
// ledger. If FILE-head exists, it shows them; otherwise, compare the heads with copies that were
// kept elsewhere.
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

// Prunable compares the first receipts of the ledger with a checkpoint that covers them and with an
// archive, so that their content can be removed from the ledger. A key of trust must have signed
// the checkpoint. The archive yields exactly the receipts that were not already pruned, their JSON
// as stored, in the order of Scan.
//
// Nothing is changed or locked. The error is a *[PruneError], an *[ArchiveError], a *[DamageError],
// an error of the archive, or one of reading.
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

// Tree returns the tree of a checkpoint of the receipts of a query, in the order of Scan, including
// pruned ones. Its leaves are computed from the content of the receipts, not from the stored
// hashes. Those of pruned receipts are the hashes that match the roots of their checkpoints.
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

		// The leaf is that of the content, regardless of the hash in the row or the receipt.
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

// signTries is how often Sign starts again if others sign the receipt, too.
const signTries = 64

// replaceReceipt stores a receipt with one more signature, if the receipt has not changed.
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

	// The error rolled the transaction back, so nothing that others stored was overwritten.
	if errors.Is(err, errChanged) {
		return false, nil
	}
	return err == nil, err
}

var errChanged = errors.New("the receipt has changed")

// signatures returns the key IDs of a receipt's signatures.
func signatures(sealed *receipt.Sealed) (ids []string) {
	for _, s := range sealed.Document().Root().Member("signatures").Elements() {
		ids = append(ids, s.Member("key_id").String())
	}
	return ids
}

// signedTwice reports whether the key of the last signature has an earlier one.
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
