// Package sqlite stores a ledger in a SQLite file.
//
// While the ledger is in use, there are two files next to it, with the suffixes -wal and -shm.
// Writes go to a write-ahead log, which is synced before Append returns. FILE-head, which is stored
// next to the ledger, records where the ledger ends. If the ledger lacks data that is recorded
// there, nothing is written to it, and Check reports a fault. Every reader compares each row with
// the receipt in the row, and Check lists all damaged rows. The file is watched: if it is deleted,
// replaced, or truncated while it is open, no further receipt is acknowledged.
//
// A ledger can be read without permission to write, on a read-only medium, and on a full disk. A
// ledger that any version has written can be read by all later versions.
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

// A Ledger stores receipts in a SQLite file, which any number of processes on the same machine may
// use. The file must not be on a network file system, because SQLite's locks do not work there.
//
// Writes go to a write-ahead log with synchronous=FULL, so appended receipts survive a crash of the
// process or of the machine if the disk is reliable. FILE-head, which is stored next to the ledger,
// records where the ledger ends.
type Ledger struct {
	*database
	reader
	writer
	auditor
}

// A ReplacedError indicates that the path of an open ledger no longer refers to the file that was
// opened, or that the file was truncated.
type ReplacedError = file.ReplacedError

// A RolledBackError indicates that a ledger lacks data that is recorded in FILE-head.
type RolledBackError = file.RolledBackError

// Create creates a new ledger. If the file exists, it is not changed, and the error is fs.ErrExist.
func Create(ctx context.Context, path string) (*Ledger, error) {
	// FILE-wal and FILE-head may remain from a ledger that has been lost.
	for _, suffix := range []string{"", "-wal", file.HeadSuffix} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return nil, &fs.PathError{Op: "create", Path: path + suffix, Err: fs.ErrExist}
		}
	}

	// Because of O_EXCL, only one of several processes can create the file.
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

// Open opens an existing ledger. If there is no ledger, the error is fs.ErrNotExist. Tables of an
// older version are migrated, and tables of a newer version are refused. If the ledger lacks data
// that was stored in it, the error is a *[RolledBackError].
func Open(ctx context.Context, path string) (*Ledger, error) {
	return open(ctx, path, "rw", migrations())
}

// OpenReadOnly opens a ledger of this version or an older version, for reading only. The file, its
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

// Replace implements [ledger.Replacer].
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

	// The error rolled back the transaction, so no data from other processes was overwritten.
	if errors.Is(err, errChanged) {
		return false, nil
	}
	return err == nil, err
}

var errChanged = errors.New("the receipt has changed")
