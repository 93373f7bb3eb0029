// Package sqlite keeps a ledger in a SQLite file.
//
// While it is in use, the file is accompanied by -wal and -shm. Writes use a write-ahead log that
// is synced before Append returns. FILE-head, next to the ledger, records the end of the ledger. A
// ledger that lacks recorded data is not written to, and Check reports it. Every reader compares
// each row with the receipt in it; Check lists all damaged rows. The file is watched: if it is
// deleted, replaced, or truncated while it is open, no further receipt is acknowledged.
//
// A ledger can also be read without permission to write, on a read-only medium, and on a full disk.
// Every later version can read a ledger that an earlier version wrote.
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

// A Ledger is a ledger in one SQLite file, which any number of processes on one machine may use.
// The file must not be on a network file system, because SQLite's locks do not work there.
//
// Writes use a write-ahead log and synchronous=FULL, so appended receipts survive a crash of the
// process or the machine, if the disk is reliable. FILE-head, next to the ledger, records where the
// ledger ends.
type Ledger struct {
	*database
	reader
	writer
	auditor
}

// A ReplacedError indicates that the path of an open ledger no longer leads to its file, or that the
// file was truncated.
type ReplacedError = file.ReplacedError

// A RolledBackError indicates that a ledger lacks data that FILE-head records.
type RolledBackError = file.RolledBackError

// Create creates a new ledger. An existing file is not changed, and the error is fs.ErrExist.
func Create(ctx context.Context, path string) (*Ledger, error) {
	// FILE-wal and FILE-head may remain from a lost ledger.
	for _, suffix := range []string{"", "-wal", file.HeadSuffix} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return nil, &fs.PathError{Op: "create", Path: path + suffix, Err: fs.ErrExist}
		}
	}

	// O_EXCL: if two processes try to create it, only one succeeds.
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

// Open opens a ledger. If there is none, the error is fs.ErrNotExist. Tables of an older version
// are migrated; tables of a newer version are refused. If a ledger lacks data that was once stored
// in it, the error is a *[RolledBackError].
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
