package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	driven "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite/internal/file"
)

// A database is a ledger file, together with the connections to it.
type database struct {
	layout
	path   string
	files  *file.Watch
	steps  []string // migrations
	write  *sql.DB  // a single connection, because SQLite allows only one writer
	own    *sql.DB  // a single connection, through which writers read without waiting for readers
	read   *sql.DB
	query  url.Values    // URL parameters of connections for reading
	reads  chan struct{} // one slot per reader, in the order of arrival
	queues *file.Queues  // of writers
}

// mostReaders is the maximum number of concurrent reads. More concurrent reads are not faster. If
// the ledger is being written at the same time, readers leave one processor to the writers.
const mostReaders = 4

func readers(mode string) int {
	if mode == "ro" {
		return mostReaders
	}
	return max(1, min(mostReaders, runtime.GOMAXPROCS(0)-1))
}

// busy is the maximum time, in milliseconds, for which a writer waits for another process. A write
// takes a few milliseconds, so a lock that is still held after a minute is unlikely to be released
// soon.
const busy = 60_000

func (l *database) connect(ctx context.Context, mode string) (err error) {
	if mode == "ro" {
		return l.connectReadOnly(ctx)
	}

	if l.write, err = l.pool(1, url.Values{"mode": {mode}, "_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}}); err != nil {
		return err
	}

	if err := l.migrate(ctx); err != nil {
		return err
	}

	// Connections for reading are opened after the tables have been migrated.
	l.query = url.Values{"mode": {mode}, "_pragma": {"query_only(1)"}}
	if l.own, err = l.pool(1, l.query); err != nil {
		return err
	}
	if l.read, err = l.pool(cap(l.reads), l.query); err != nil {
		return err
	}

	return l.marked(ctx)
}

// connectReadOnly opens a ledger for reading. If SQLite has no permission or no disk space to
// create the files that it needs next to the ledger, no other process is writing to the ledger. The
// ledger is then read without these files.
func (l *database) connectReadOnly(ctx context.Context) (err error) {
	l.query = url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)"}}
	if l.read, err = l.pool(cap(l.reads), l.query); err != nil {
		return err
	}
	if err = l.known(ctx); !unwritable(err) {
		return err
	}

	// SQLite requires the -shm file even for reading. If this file cannot be created, no other
	// process is writing to the ledger.
	first := err
	alone, err := l.files.Freeze()
	if err != nil {
		return err
	}

	// With immutable=1, SQLite ignores the log, so the entire ledger must be in the main file.
	l.query = url.Values{"mode": {"ro"}, "immutable": {"1"}, "_pragma": {"query_only(1)"}}
	if !alone { // the log contains part of the ledger, and SQLite keeps the index of the log in memory
		l.query = url.Values{"mode": {"ro"}, "vfs": {"unix-none"}, "_pragma": {"locking_mode(EXCLUSIVE)", "query_only(1)"}}
	}
	if err := l.read.Close(); err != nil {
		return err
	}
	if l.read, err = l.pool(cap(l.reads), l.query); err != nil {
		return err
	}

	if err := l.known(ctx); err != nil {
		return errors.Join(err, first)
	}
	return nil
}

// unwritable reports whether an error means that a reader cannot create the -shm file. A reader has
// to enlarge this file only if no writer has done so, that is, only if no other process has the
// ledger open.
func unwritable(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_FULL:
		return true
	}
	return code(err) == sqlite3.SQLITE_IOERR_SHMSIZE // this is the error if the disk is full
}

// pool returns connections to the file that is being watched, and never to a different file that
// later has the same path.
func (l *database) pool(size int, query url.Values) (*sql.DB, error) {
	path := filepath.ToSlash(l.files.Path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // of a drive
	}

	query = maps.Clone(query) // a copy, because Check opens a pool while others read the ledger

	// A transaction acquires the write lock when it begins, so that it never has to abort later.
	query.Set("_txlock", "immediate")
	query.Set("_busy_timeout", fmt.Sprint(busy))
	to, err := driven.NewConnector((&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}

	db := sql.OpenDB(file.Connections(l.files, to))
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

// reading waits until it is the caller's turn to read. The caller ends the turn by calling done.
func (l *database) reading(ctx context.Context) (done func(), err error) {
	select {
	case l.reads <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := l.files.Same(); err != nil {
		<-l.reads
		return nil, err
	}
	if err := l.renewed(ctx); err != nil {
		<-l.reads
		return nil, err
	}
	return func() { <-l.reads }, nil
}

// renewed checks whether a writer has migrated tables of an older version.
func (l *database) renewed(ctx context.Context) error {
	if l.has(int64(len(l.steps))) {
		return nil
	}
	version, err := l.versionOf(ctx, l.read)
	if err == nil {
		l.tables.Store(int64(version))
	}
	return err
}

// Close closes all connections to the ledger.
func (l *database) Close() error {
	var errs []error
	for _, db := range []*sql.DB{l.read, l.own, l.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// A versionError indicates that a file is not a ledger of a supported version.
type versionError struct {
	Path           string
	Found, Current int // versions of the tables; Found is -1 if the file is not a ledger
}

func (e *versionError) Error() string {
	switch {
	case e.Found < 0:
		return fmt.Sprintf("ledger: %q is not a ledger", e.Path)
	case e.Found > e.Current:
		return fmt.Sprintf("ledger: %q has version %d, this program knows versions up to %d; use a newer one", e.Path, e.Found, e.Current)
	}
	return fmt.Sprintf("ledger: %q has version %d, expected %d; open it once for writing to bring it up to date", e.Path, e.Found, e.Current)
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A rowQuerier can run queries that return several rows.
type rowQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// versionOf returns the version of the tables, or 0 if the file is empty.
func (l *database) versionOf(ctx context.Context, q querier) (int, error) {
	var id, version, tables int
	if err := q.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").Scan(&id, &version, &tables); err != nil {
		return 0, l.wrap(ctx, "read its version", err)
	}

	current := len(l.steps)
	if id != applicationID && (id != 0 || version != 0 || tables != 0) {
		return 0, &versionError{l.path, -1, current}
	}
	if version > current {
		return 0, &versionError{l.path, version, current}
	}
	return version, nil
}

// known checks that this program supports the version of the tables. Older versions are supported
// for reading, so that a backup can be checked even if it is read-only.
func (l *database) known(ctx context.Context) (err error) {
	version, err := l.versionOf(ctx, l.read)
	if err == nil && version == 0 {
		err = &versionError{l.path, 0, len(l.steps)}
	}
	l.tables.Store(int64(version))
	return err
}

// migrate applies the missing migration steps in one transaction.
func (l *database) migrate(ctx context.Context) (err error) {
	version, err := l.versionOf(ctx, l.write)
	if l.tables.Store(int64(version)); err != nil || version == len(l.steps) {
		return err
	}

	return l.transact(ctx, "bring it up to date", func(tx *sql.Tx) error {
		version, err := l.versionOf(ctx, tx) // another process may already have migrated the tables
		if err != nil {
			return err
		}

		// Either all missing steps and the new version are stored, or nothing is.
		for _, step := range l.steps[version:] {
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return err
			}
		}

		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(l.steps)))
		l.tables.Store(int64(len(l.steps)))
		return err
	})
}

// store runs f in a transaction. It fails if the tables no longer have the version of this program
// (a newer program may have migrated them), if the ledger lacks data, or if the file of the ledger
// is no longer in place. If store returns no error, other connections can read the data that f
// stored.
func (l *database) store(ctx context.Context, what string, t *file.Turn, f func(*sql.Tx) error) error {
	is, err := l.inTurn(ctx, what, t, f)
	if err != nil {
		return err
	}

	// Data is acknowledged only after it has been read again. Reading includes the prunings, which
	// every reader checks. A commit does not write to the pages of the prunings, so these pages may
	// be lost while all other data is still in the log.
	var hash []byte // read through another connection, from the files, while other processes write
	var pruned int64
	err = l.own.QueryRowContext(ctx, "SELECT hash, "+l.prunedTo()+" FROM receipts WHERE seq = ?", is.Sequence).Scan(&hash, &pruned)
	if errors.Is(err, sql.ErrNoRows) && is.Sequence == 0 {
		err = nil
	}
	if err == nil && is.Sequence > 0 && (!bytes.Equal(hash, is.Hash[:]) || pruned > is.Sequence) {
		err = &ledger.Fault{Code: ledger.FaultFile, Detail: fmt.Sprintf("the row that was stored with the sequence %d cannot be read again", is.Sequence)}
	}
	return l.wrap(ctx, "read what was stored", err)
}

// inTurn is like store, but does not read the data again. The turn t for a stream ends when the
// receipts of the stream have a place in the queue of writers.
func (l *database) inTurn(ctx context.Context, what string, t *file.Turn, f func(*sql.Tx) error) (is file.Mark, err error) {
	defer l.queues.Write(t)()

	// The file is checked before anything is written, because data in a file that has been unlinked
	// would be lost.
	if err := l.files.Same(); err != nil {
		return is, fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}
	err = l.transact(ctx, what, func(tx *sql.Tx) error {
		if err := l.ready(ctx, tx); err != nil {
			return err
		}
		if err := f(tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE state SET commits = commits + 1"); err != nil {
			return err
		}
		var err error
		is, _, err = markOf(ctx, tx)
		return err
	})

	// The data is acknowledged only if it is in the log that other processes read.
	if err == nil {
		err = l.files.Committed()
	}
	if err != nil {
		return is, err
	}

	// FILE-head is written last, so that it is never ahead of the ledger.
	return is, l.wrap(ctx, "write down its head", is.Write(l.files.Path))
}

// ready checks a ledger while its write lock is held.
func (l *database) ready(ctx context.Context, tx *sql.Tx) error {
	// If an older state was copied over the file and a checkpoint then enlarged the file again,
	// only the content of the file reveals the change. Pages in SQLite's cache would hide the
	// change.
	if l.files.Rewritten() {
		if _, err := tx.ExecContext(ctx, "PRAGMA shrink_memory"); err != nil {
			l.files.Remember()
			return err
		}
	}

	is, version, err := markOf(ctx, tx)
	if err != nil {
		return err
	}
	if version != len(l.steps) {
		return &versionError{l.path, version, len(l.steps)}
	}
	if err := l.files.InUse(); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}

	// Nothing is appended to a ledger that lacks data recorded in FILE-head.
	if m, ok := file.ReadMark(l.files.Path); ok {
		if err := m.Reached(l.path, is, hashAt(ctx, tx)); err != nil {
			return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
		}
	}

	return nil
}

// marked compares a ledger with FILE-head, or creates FILE-head.
func (l *database) marked(ctx context.Context) error {
	if err := file.Touch(l.files.Path); err != nil { // FILE-head must exist before anything is stored that it has to record
		return l.wrap(ctx, "write down its head", err)
	}

	m, ok := file.ReadMark(l.files.Path) // FILE-head must be read before the ledger, because other processes write to the ledger
	is, _, err := markOf(ctx, l.own)
	if err != nil {
		return l.wrap(ctx, "compare it with its head", err)
	}

	// A mark that exists is only compared, because each write replaces it.
	if ok {
		return l.wrap(ctx, "compare it with its head", m.Reached(l.path, is, hashAt(ctx, l.own)))
	}

	return l.wrap(ctx, "write down its head", is.Write(l.files.Path))
}

// transact runs f in a transaction that holds the write lock. If the transaction is not committed,
// nothing is stored.
func (l *database) transact(ctx context.Context, what string, f func(*sql.Tx) error) error {
	if l.write == nil {
		return fmt.Errorf("%w: %s: %q is open read-only: %w", ledger.ErrNotStored, what, l.path, errors.ErrUnsupported)
	}

	tx, err := l.write.BeginTx(ctx, nil)
	if err == nil {
		if err = f(tx); err == nil {
			return l.wrap(ctx, what, tx.Commit())
		}
		tx.Rollback()
	}

	// Errors that an issuer handles are returned unchanged.
	err = l.wrap(ctx, what, err)
	if errors.Is(err, ledger.ErrHeadMoved) || errors.Is(err, ledger.ErrDuplicateID) || errors.Is(err, ledger.ErrNotStored) {
		return err
	}
	return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
}

// markOf returns the current mark of a ledger and the version of its tables.
func markOf(ctx context.Context, q querier) (m file.Mark, version int, err error) {
	var hash []byte
	err = q.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version), lower(hex(ledger)), commits, ifnull(r.seq, 0), r.hash
FROM state LEFT JOIN (SELECT seq, hash FROM receipts ORDER BY seq DESC LIMIT 1) r`).Scan(&version, &m.Ledger, &m.Commits, &m.Sequence, &hash)
	m.Hash = digest(hash)
	return m, version, err
}

// hashAt returns a function that looks up the hash of a receipt by sequence number. The function
// also reports whether the receipt is stored.
func hashAt(ctx context.Context, q querier) func(sequence int64) (canon.Digest, bool, error) {
	return func(sequence int64) (canon.Digest, bool, error) {
		var hash []byte
		err := q.QueryRowContext(ctx, "SELECT hash FROM receipts WHERE seq = ?", sequence).Scan(&hash)
		if errors.Is(err, sql.ErrNoRows) {
			return canon.Digest{}, false, nil
		}
		return digest(hash), err == nil, err
	}
}

// wrap adds the operation and the path to an error. If a context has ended, wrap also adds the
// reason. Errors of this package are returned unchanged.
func (l *database) wrap(ctx context.Context, what string, err error) error {
	switch {
	case err == nil, errors.Is(err, ledger.ErrHeadMoved), errors.Is(err, ledger.ErrDuplicateID), errors.Is(err, ledger.ErrNotFound),
		errors.As(err, new(*versionError)), errors.As(err, new(*ledger.Fault)), errors.As(err, new(*ReplacedError)), errors.As(err, new(*RolledBackError)):
		return err
	}
	if ended := context.Cause(ctx); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err)
	}

	hint := ""
	switch c := code(err); {
	case c == sqlite3.SQLITE_IOERR_SHMSIZE:
		hint = "; -shm cannot be enlarged: the disk may be full"
	case errors.Is(err, errValue), c == sqlite3.SQLITE_IOERR_READ, c == sqlite3.SQLITE_IOERR_SHORT_READ, c == sqlite3.SQLITE_IOERR_CORRUPTFS, c&0xff == sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("ledger: %s: %q: %w; %w", what, l.path, err, ledger.ErrUnreadable)
	default:
		hint = hints[c&0xff]
	}
	return fmt.Errorf("ledger: %s: %q: %w%s", what, l.path, err, hint)
}

// hints explains some of SQLite's primary result codes. The low byte of an extended result code is
// the primary result code.
var hints = map[int]string{
	sqlite3.SQLITE_FULL:     "; the disk is full",
	sqlite3.SQLITE_BUSY:     "; another process has kept it locked for a minute",
	sqlite3.SQLITE_NOTADB:   "; it is not a ledger, or its beginning is damaged",
	sqlite3.SQLITE_READONLY: notWritable,
	sqlite3.SQLITE_CANTOPEN: notWritable,
	sqlite3.SQLITE_PERM:     notWritable,
}

const notWritable = "; the file and its directory must be writable"

// code returns the SQLite result code of an error, or 0 if the error has none.
func code(err error) int {
	var e *driven.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}
