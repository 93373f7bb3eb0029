package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/receiptkit/receiptkit/receipt"
)

// SQLite is a [Store] in one SQLite file, for any number of processes of one
// machine. The file must not be on a network file system: SQLite's locks do not
// hold there.
//
// It is written with a write-ahead log and synchronous=FULL: what Append returned
// for survives a crash of the process and of the machine, as far as the disk tells
// the truth.
type SQLite struct {
	path   string
	steps  []string // migrations
	write  *sql.DB  // of one connection: SQLite has one writer
	read   *sql.DB
	sealer *receipt.Sealer
}

const readers = 4

// busy is how long a writer waits for another process, in milliseconds. Writes
// take some milliseconds; a minute without the lock means that somebody keeps it.
const busy = 60_000

// Create makes a new ledger. A file that exists already is left as it is, and the
// error is fs.ErrExist.
func Create(ctx context.Context, path string) (*SQLite, error) {
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
// of an older version are brought up to date; those of a newer one are refused.
func Open(ctx context.Context, path string) (*SQLite, error) { return openExisting(ctx, path, "rw") }

// OpenReadOnly opens a ledger that is only to be read. It must be up to date.
func OpenReadOnly(ctx context.Context, path string) (*SQLite, error) {
	return openExisting(ctx, path, "ro")
}

func openExisting(ctx context.Context, path, mode string) (*SQLite, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return open(ctx, path, mode, migrations())
}

func open(ctx context.Context, path, mode string, steps []string) (*SQLite, error) {
	l := &SQLite{path: path, steps: steps}
	if err := l.connect(ctx, mode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *SQLite) connect(ctx context.Context, mode string) (err error) {
	if l.sealer, err = receipt.NewSealer(); err != nil {
		return err
	}
	if l.read, err = connect(l.path, mode, "query_only(1)"); err != nil {
		return err
	}
	l.read.SetMaxOpenConns(readers)
	if mode == "ro" {
		return l.upToDate(ctx, l.read)
	}
	if l.write, err = connect(l.path, mode, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"); err != nil {
		return err
	}
	l.write.SetMaxOpenConns(1)
	return l.migrate(ctx)
}

func connect(path, mode string, pragmas ...string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // of a drive
	}
	query := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_busy_timeout": {fmt.Sprint(busy)}, "_pragma": pragmas}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
}

// Close closes the ledger.
func (l *SQLite) Close() error {
	var errs []error
	for _, db := range []*sql.DB{l.read, l.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// A VersionError says that a file is no ledger of this version.
type VersionError struct {
	Path           string
	Found, Current int // versions; Found -1: no ledger at all
}

func (e *VersionError) Error() string {
	switch {
	case e.Found < 0:
		return fmt.Sprintf("ledger: %q is no ledger", e.Path)
	case e.Found > e.Current:
		return fmt.Sprintf("ledger: %q has version %d, this program knows versions up to %d; use a newer one", e.Path, e.Found, e.Current)
	}
	return fmt.Sprintf("ledger: %q has version %d, expected %d; open it once for writing to bring it up to date", e.Path, e.Found, e.Current)
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the version of the tables, 0 for an empty file.
func (l *SQLite) version(ctx context.Context, q querier) (int, error) {
	var id, version, tables int
	if err := q.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").Scan(&id, &version, &tables); err != nil {
		return 0, l.wrap("read its version", err)
	}
	current := len(l.steps)
	if id != applicationID && (id != 0 || version != 0 || tables != 0) {
		return 0, &VersionError{l.path, -1, current}
	}
	if version > current {
		return 0, &VersionError{l.path, version, current}
	}
	return version, nil
}

func (l *SQLite) upToDate(ctx context.Context, q querier) error {
	version, err := l.version(ctx, q)
	if current := len(l.steps); err == nil && version != current {
		err = &VersionError{l.path, version, current}
	}
	return err
}

// migrate makes the steps that are missing, in one transaction.
func (l *SQLite) migrate(ctx context.Context) error {
	if version, err := l.version(ctx, l.write); err != nil || version == len(l.steps) {
		return err
	}
	return l.transact(ctx, "bring it up to date", func(tx *sql.Tx) error {
		version, err := l.version(ctx, tx) // another process may have been faster
		if err != nil {
			return err
		}
		for _, step := range l.steps[version:] {
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(l.steps)))
		return err
	})
}

// store runs f in a transaction, if the tables are still those that this program
// knows: a newer one may have brought them up to date since.
func (l *SQLite) store(ctx context.Context, what string, f func(*sql.Tx) error) error {
	return l.transact(ctx, what, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version != len(l.steps) {
			return &VersionError{l.path, version, len(l.steps)}
		}
		return f(tx)
	})
}

// transact runs f in a transaction that holds the lock for writing.
func (l *SQLite) transact(ctx context.Context, what string, f func(*sql.Tx) error) error {
	if l.write == nil {
		return fmt.Errorf("ledger: %s: %q is open for reading only", what, l.path)
	}
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return l.wrap(what, err)
	}
	if err := f(tx); err != nil {
		tx.Rollback()
		return l.wrap(what, err)
	}
	return l.wrap(what, tx.Commit())
}

// wrap says what failed where. Errors of this package stay as they are.
func (l *SQLite) wrap(what string, err error) error {
	var version *VersionError
	switch {
	case err == nil, errors.Is(err, ErrHeadMoved), errors.Is(err, ErrDuplicateID), errors.Is(err, ErrNotFound), errors.As(err, &version):
		return err
	}
	hint := ""
	switch code(err) & 0xff {
	case sqlite3.SQLITE_FULL:
		hint = "; the disk is full"
	case sqlite3.SQLITE_BUSY:
		hint = "; another process has kept it locked for a minute"
	case sqlite3.SQLITE_CORRUPT:
		hint = "; it is damaged: restore a copy, if receipt ledger fsck cannot read it either"
	case sqlite3.SQLITE_NOTADB:
		hint = "; it is no ledger, or its beginning is damaged"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		hint = "; the file and its folder must be writable"
	}
	return fmt.Errorf("ledger: %s: %q: %w%s", what, l.path, err, hint)
}

// code returns SQLite's result code of an error, 0 for others.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}
