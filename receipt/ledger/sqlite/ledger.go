// Package sqlite keeps a ledger in a SQLite file.
//
// The file has -wal and -shm next to it while it is in use. It is written with a write-ahead log
// that is synced before Append returns. FILE-head, next to the ledger, records how far the ledger
// got: a ledger that lacks some of that is not written to, and Check reports it. Every reader
// compares each row with the receipt in it; Check lists all that are damaged. The file is watched:
// if it is deleted, replaced, or truncated while it is open, nothing more is acknowledged.
//
// A ledger can also be read without permission to write, on a read-only medium, and on a full disk.
// A ledger that one version wrote can be read by all later versions.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite/internal/file"
)

// A Ledger is a ledger in one SQLite file, for any number of processes of one machine. The file must
// not be on a network file system, because SQLite's locks do not work there.
//
// It is written with a write-ahead log and synchronous=FULL: appended receipts survive a crash of
// the process and of the machine, as far as the disk is reliable. FILE-head, next to the ledger,
// records where the ledger ends.
type Ledger struct {
	*database
	reader
	writer
	auditor
}

// A ReplacedError indicates that the path of an open ledger no longer leads to its file, or that the
// file was truncated.
type ReplacedError = file.ReplacedError

// A RolledBackError indicates that a ledger has less than FILE-head records.
type RolledBackError = file.RolledBackError

// Create creates a new ledger. An existing file is not changed, and the error is fs.ErrExist.
func Create(ctx context.Context, path string) (*Ledger, error) {
	for _, suffix := range []string{"", "-wal", file.HeadSuffix} {
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
func Open(ctx context.Context, path string) (*Ledger, error) {
	return open(ctx, path, "rw", migrations())
}

// OpenReadOnly opens a ledger of this version or an older one for reading only. The file, its
// directory, and the medium may be read-only.
func OpenReadOnly(ctx context.Context, path string) (*Ledger, error) {
	return open(ctx, path, "ro", migrations())
}

func open(ctx context.Context, path, mode string, steps []string) (*Ledger, error) {
	watched, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	db := &database{path: path, files: watched, queues: file.NewQueues(watched.Path), steps: steps, reads: make(chan struct{}, readers(mode))}
	if err := db.connect(ctx, mode); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Ledger{db, reader{db}, writer{db}, auditor{db}}, nil
}

// Replace is described at [ledger.Replacer].
func (l *Ledger) Replace(ctx context.Context, was, is *receipt.Sealed) (replaced bool, err error) {
	err = l.store(ctx, "store a signature", nil, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, "UPDATE receipts SET json = ? WHERE receipt_id = ? AND json = ?", is.JSON(), was.ID(), was.JSON())
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
