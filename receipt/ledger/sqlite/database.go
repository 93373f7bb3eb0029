package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	driven "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A database is the file of a ledger with the connections to it.
type database struct {
	layout
	path   string
	files  *files
	steps  []string // migrations
	write  *sql.DB  // of one connection, because SQLite has one writer
	own    *sql.DB  // of one connection, by which writers read without waiting for readers
	read   *sql.DB
	query  url.Values    // of connections that read
	reads  chan struct{} // one slot per reader, in the order of arrival
	queues queues        // queues of writers
}

// mostReaders is how many reads run at the same time. More are not faster. If the ledger is also
// written, the readers leave one processor to the writers.
const mostReaders = 4

func readers(mode string) int {
	if mode == "ro" {
		return mostReaders
	}
	return max(1, min(mostReaders, runtime.GOMAXPROCS(0)-1))
}

// busy is how long a writer waits for another process, in milliseconds. Writes take some
// milliseconds, so after a minute another process is holding the lock.
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

	// The readers are opened after the tables are up to date.
	l.query = url.Values{"mode": {mode}, "_pragma": {"query_only(1)"}}
	if l.own, err = l.pool(1, l.query); err != nil {
		return err
	}
	if l.read, err = l.pool(cap(l.reads), l.query); err != nil {
		return err
	}

	return l.marked(ctx)
}

// connectReadOnly opens a ledger like any other reader. If SQLite cannot create the files that it
// needs next to the ledger, for lack of permission or because the disk is full, nobody writes
// there, and the ledger is read without them.
func (l *database) connectReadOnly(ctx context.Context) (err error) {
	l.query = url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)"}}
	if l.read, err = l.pool(cap(l.reads), l.query); err != nil {
		return err
	}
	if err = l.known(ctx); !unwritable(err) {
		return err
	}

	// SQLite needs -shm to read. If it cannot create one, nobody writes either.
	first := err
	alone, err := l.files.freeze()
	if err != nil {
		return err
	}

	// immutable=1 reads no log, so the entire ledger must be in its one file.
	l.query = url.Values{"mode": {"ro"}, "immutable": {"1"}, "_pragma": {"query_only(1)"}}
	if !alone { // the log is part of the ledger, and is indexed in memory
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

// unwritable reports whether an error is that of a reader that cannot create -shm. A reader
// enlarges -shm only if no writer did, and so only if no process has the ledger open.
func unwritable(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_FULL:
		return true
	}
	return code(err) == sqlite3.SQLITE_IOERR_SHMSIZE // the disk is full
}

// pool returns connections to the watched file, and to no other file that may have its path later.
func (l *database) pool(size int, query url.Values) (*sql.DB, error) {
	path := filepath.ToSlash(l.files.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // of a drive
	}

	query = maps.Clone(query) // Check opens a pool while others read the ledger

	// A transaction takes the write lock when it begins, so it never has to give up halfway.
	query.Set("_txlock", "immediate")
	query.Set("_busy_timeout", fmt.Sprint(busy))
	to, err := driven.NewConnector((&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}

	db := sql.OpenDB(&connector{to, l.files})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

type connector struct {
	driver.Connector
	files *files
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.files.same(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return keepStatements(conn)
}

// reading waits for the caller's turn to read. Done ends the turn.
func (l *database) reading(ctx context.Context) (done func(), err error) {
	select {
	case l.reads <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := l.files.same(); err != nil {
		<-l.reads
		return nil, err
	}
	if err := l.renewed(ctx); err != nil {
		<-l.reads
		return nil, err
	}
	return func() { <-l.reads }, nil
}

// renewed checks whether a writer has brought tables of an older version up to date.
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

// Close closes the ledger.
func (l *database) Close() error {
	var errs []error
	for _, db := range []*sql.DB{l.read, l.own, l.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// A VersionError indicates that a file is not a ledger of this version.
type VersionError struct {
	Path           string
	Found, Current int // versions; Found -1: not a ledger at all
}

func (e *VersionError) Error() string {
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

// A rowQuerier reads several rows.
type rowQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// versionOf returns the version of the tables, or 0 for an empty file.
func (l *database) versionOf(ctx context.Context, q querier) (int, error) {
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

// known makes sure that the tables can be read. Those of older versions can, so a backup need not
// be writable to be checked.
func (l *database) known(ctx context.Context) (err error) {
	version, err := l.versionOf(ctx, l.read)
	if err == nil && version == 0 {
		err = &VersionError{l.path, 0, len(l.steps)}
	}
	l.tables.Store(int64(version))
	return err
}

// migrate applies the missing steps in one transaction.
func (l *database) migrate(ctx context.Context) (err error) {
	version, err := l.versionOf(ctx, l.write)
	if l.tables.Store(int64(version)); err != nil || version == len(l.steps) {
		return err
	}

	return l.transact(ctx, "bring it up to date", func(tx *sql.Tx) error {
		version, err := l.versionOf(ctx, tx) // another process may have been faster
		if err != nil {
			return err
		}

		// Either all missing steps and their number are stored, or none.
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

// store runs f in a transaction, if the tables are still those of this program (a newer one may
// have migrated them), the ledger has everything that it had, and its file is still in place. If it
// returns without an error, other connections can read what f stored.
func (l *database) store(ctx context.Context, what string, t *turn, f func(*sql.Tx) error) error {
	is, err := l.inTurn(ctx, what, t, f)
	if err != nil {
		return err
	}

	// Data that cannot be read again is not acknowledged. Every reader checks what was pruned, and
	// a commit does not touch those pages, so they may be lost while everything else is still in
	// the log.
	var hash []byte // by another connection, from the files, while others write
	var pruned int64
	err = l.own.QueryRowContext(ctx, "SELECT hash, "+l.prunedTo()+" FROM receipts WHERE seq = ?", is.sequence).Scan(&hash, &pruned)
	if errors.Is(err, sql.ErrNoRows) && is.sequence == 0 {
		err = nil
	}
	if err == nil && is.sequence > 0 && (!bytes.Equal(hash, is.hash[:]) || pruned > is.sequence) {
		err = damageOf(ledger.FaultFile, "", chain.Stream{}, fmt.Sprintf("what was stored as number %d of all cannot be read again", is.sequence))
	}
	return l.wrap("read what was stored", err)
}

// inTurn is store without reading the data again. The turn of a stream, t, ends when its receipts
// are in the queue of writers.
func (l *database) inTurn(ctx context.Context, what string, t *turn, f func(*sql.Tx) error) (is mark, err error) {
	place := t.line(l)
	defer place.end()
	l.queues.wait(place, writeLane)

	// The file is checked before anything is written, because data in a file without a name is
	// lost.
	if err := l.files.same(); err != nil {
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

	// An acknowledgment means stored: the data must be in the log that others read.
	if err == nil {
		err = l.files.committed()
	}
	if err != nil {
		return is, err
	}

	// The mark is written last, so it is never ahead of the ledger.
	return is, l.wrap("write down its head", is.write(l.files.path))
}

// ready checks a ledger whose write lock is held.
func (l *database) ready(ctx context.Context, tx *sql.Tx) error {
	// If somebody copied an older state over the file and a checkpoint made it grow again,
	// only its content shows it. Pages that SQLite remembers would hide that.
	if l.files.rewritten() {
		if _, err := tx.ExecContext(ctx, "PRAGMA shrink_memory"); err != nil {
			l.files.remember()
			return err
		}
	}

	is, version, err := markOf(ctx, tx)
	if err != nil {
		return err
	}
	if version != len(l.steps) {
		return &VersionError{l.path, version, len(l.steps)}
	}
	if err := l.files.inUse(); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}

	// Nothing is appended to a ledger that lacks data that the mark records.
	if m, ok := readMark(l.files.path); ok {
		if err := m.reached(ctx, tx, l.path, is); err != nil {
			return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
		}
	}

	return nil
}

// marked compares a ledger with the mark next to it, or creates the mark.
func (l *database) marked(ctx context.Context) error {
	head, err := openHead(l.files.path) // before anything is stored that it must record
	if err != nil {
		return l.wrap("write down its head", err)
	}
	if err := head.Close(); err != nil {
		return l.wrap("write down its head", err)
	}

	m, ok := readMark(l.files.path) // before the ledger, to which others write
	is, _, err := markOf(ctx, l.own)
	if err != nil {
		return l.wrap("compare it with its head", err)
	}

	// An existing mark is only compared, because each write replaces it.
	if ok {
		return l.wrap("compare it with its head", m.reached(ctx, l.own, l.path, is))
	}

	return l.wrap("write down its head", is.write(l.files.path))
}

// transact runs f in a transaction that holds the write lock.
func (l *database) transact(ctx context.Context, what string, f func(*sql.Tx) error) error {
	if l.write == nil {
		return fmt.Errorf("%w: %s: %q is open read-only", ledger.ErrNotStored, what, l.path)
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

// wrap adds the operation and the path to an error. Errors of this package are returned unchanged.
func (l *database) wrap(what string, err error) error {
	var version *VersionError
	var damage *ledger.DamageError
	var replaced *ReplacedError
	var rolledBack *RolledBackError
	var pruned *ledger.PrunedError
	switch {
	case err == nil, errors.Is(err, ledger.ErrHeadMoved), errors.Is(err, ledger.ErrDuplicateID), errors.Is(err, ledger.ErrNotFound),
		errors.As(err, &version), errors.As(err, &damage), errors.As(err, &replaced), errors.As(err, &rolledBack), errors.As(err, &pruned):
		return err
	}

	// An extended result code of SQLite has the primary one in its low byte.
	hint := ""
	switch code(err) & 0xff {
	case sqlite3.SQLITE_FULL:
		hint = "; the disk is full"
	case sqlite3.SQLITE_IOERR:
		if code(err) == sqlite3.SQLITE_IOERR_SHMSIZE {
			hint = "; -shm cannot be enlarged: the disk may be full"
		}
	case sqlite3.SQLITE_BUSY:
		hint = "; another process has kept it locked for a minute"
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("ledger: %s: %q: %w; %w", what, l.path, err, ErrUnreadable)
	case sqlite3.SQLITE_NOTADB:
		hint = "; it is not a ledger, or its beginning is damaged"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		hint = "; the file and its folder must be writable"
	}

	return fmt.Errorf("ledger: %s: %q: %w%s", what, l.path, err, hint)
}

// code returns SQLite's result code of an error, or 0 for other errors.
func code(err error) int {
	var e *driven.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}
