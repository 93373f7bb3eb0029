// Package postgres stores a ledger of receipts in PostgreSQL, for issuers on several machines.
//
//	l, err := postgres.Open(ctx, "postgres://user@host/database")
//	issuer := &ledger.Issuer{Store: l, Signer: signer}
//
// # Order
//
// Receipts are listed in the order in which they were stored. The receipts that a list returned
// remain the beginning of every later list, even if several writers commit at the same time. To
// achieve this, the last statement before a commit takes the sequence numbers from a single row,
// whose lock it holds until the commit is visible. Therefore, transactions become visible in the
// order of their sequence numbers.
//
// The cost is that commits are made one at a time. The lock is taken in the same round trip as the
// commit, so a slow client does not hold it. It is held during the insertion and one flush of the
// server's log. Receipts that wait for a stream within one process are committed together, up to
// 128 at a time.
//
// # Outcomes
//
// If an error from Append wraps [ledger.ErrNotStored], [ledger.ErrHeadMoved], or
// [ledger.ErrDuplicateID], it was returned by the server or occurred before the commit was sent. If
// the connection is lost after the commit was sent, the outcome is unknown.
//
// Contexts also affect the server: when a context ends, the server is asked to cancel the
// statement.
//
// # Durability
//
// The server must sync its log (fsync). Commits wait until the log is synced, even if
// synchronous_commit is off by default. The server is responsible for replication, backups, and
// permissions.
package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// version is the version of the tables.
const version = 1

//go:embed schema.sql
var schema string

// A Ledger is a ledger that is stored in a database. Its methods are safe for concurrent use.
type Ledger struct {
	pool *pgxpool.Pool
	name string // name of the database, without the password
}

// Create creates the tables of a ledger in a database, in the first schema of its search_path, and
// opens the ledger. If the database already has these tables, the error is (or wraps)
// [fs.ErrExist].
func Create(ctx context.Context, address string) (*Ledger, error) {
	l, err := connect(ctx, address, false)
	if err != nil {
		return nil, err
	}

	// Either all tables are created or none.
	_, err = l.pool.Exec(ctx, schema, pgx.QueryExecModeSimpleProtocol)
	if err == nil {
		err = l.check(ctx)
	}
	if codeOf(err) == duplicateTable {
		err = fmt.Errorf("the database already has a ledger: %w", fs.ErrExist)
	}
	if err != nil {
		l.Close()
		return nil, l.wrap(ctx, "create the ledger", err)
	}
	return l, nil
}

// Open opens the ledger in a database.
func Open(ctx context.Context, address string) (*Ledger, error) { return open(ctx, address, false) }

func open(ctx context.Context, address string, readOnly bool) (*Ledger, error) {
	l, err := connect(ctx, address, readOnly)
	if err != nil {
		return nil, err
	}
	if err := l.check(ctx); err != nil {
		l.Close()
		return nil, l.wrap(ctx, "open the ledger", err)
	}
	return l, nil
}

// cancelDelay is how long a connection waits for the server's response after it requested a
// cancellation.
const cancelDelay = 5 * time.Second

// connect returns a pool of connections to a database.
func connect(ctx context.Context, address string, readOnly bool) (*Ledger, error) {
	config, name, err := parse(address)
	if err != nil {
		return nil, err
	}
	if readOnly {
		config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	}

	// If the context of a statement ends, the statement is also canceled on the server.
	config.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelDelay}
	}

	config.AfterConnect = prepare

	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres: %s: %w", name, err)
	}
	return &Ledger{pool, name}, nil
}

// prepare sets the options of a connection. Commits are on disk when they return, even if this is
// not the server's default. If a client is idle in a transaction for a minute, the transaction is
// aborted, which also releases the lock on its stream.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
SELECT set_config('idle_in_transaction_session_timeout', '60s', false) WHERE current_setting('idle_in_transaction_session_timeout') = '0'`, pgx.QueryExecModeSimpleProtocol)
	return err
}

// Close closes the connections.
func (l *Ledger) Close() error {
	l.pool.Close()
	return nil
}

// check makes sure that the database contains a ledger of this version, and that the server does
// not lose committed data.
func (l *Ledger) check(ctx context.Context) error {
	var found int
	var fsync string
	err := l.pool.QueryRow(ctx, "SELECT version, current_setting('fsync') FROM ledger").Scan(&found, &fsync)
	switch {
	case codeOf(err) == undefinedTable:
		return errors.New("the database has no ledger")
	case err != nil:
		return err
	case found != version:
		return fmt.Errorf("the ledger has version %d, this program supports version %d", found, version)
	case fsync != "on":
		return errors.New("the server has fsync turned off, so a crash would lose acknowledged receipts; turn it on")
	}
	return nil
}

// parse returns the configuration for an address and the name that messages use for it. Errors do
// not contain the address, because it may contain a password.
func parse(address string) (config *pgxpool.Config, name string, err error) {
	invalid := errors.New("postgres: invalid address: must have the form postgres://user@host:port/database; parameters may follow, as in ?sslmode=verify-full")
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return nil, "", invalid
	}
	if config, err = pgxpool.ParseConfig(address); err != nil {
		return nil, "", invalid
	}

	c := config.ConnConfig
	u := url.URL{Scheme: "postgres", User: url.User(c.User), Host: fmt.Sprintf("%s:%d", c.Host, c.Port), Path: "/" + c.Database}
	if strings.HasPrefix(c.Host, "/") { // the directory of a Unix socket
		u.Host = ""
	}
	return config, u.String(), nil
}
