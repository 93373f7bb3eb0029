package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// begin starts a transaction in which each statement sees the data that was committed before it.
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

// transact runs a transaction. The function prepare reads data, acquires locks, and returns the
// statements that write. These statements are sent together with the commit, so that their locks
// are not held while the client works.
func (l *Ledger) transact(ctx context.Context, what string, prepare func(*pgxpool.Conn) (*pgx.Batch, error)) error {
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return l.notStored(ctx, what, err)
	}
	defer conn.Release()

	// Nothing is stored before the commit is sent.
	b := &pgx.Batch{}
	if _, err = conn.Exec(ctx, begin); err == nil {
		if b, err = prepare(conn); err == nil {
			err = ctx.Err()
		}
	}
	if err != nil {
		rollBack(ctx, conn)
		return l.notStored(ctx, what, err)
	}

	// From here on, only the server knows the outcome.
	b.Queue("COMMIT")
	tag, err := send(ctx, conn, b)
	switch {
	case err != nil:
		rollBack(ctx, conn)
		return l.outcome(ctx, what, err)
	case tag != "COMMIT":
		return l.notStored(ctx, what, fmt.Errorf("the server answers COMMIT with %q", tag))
	}
	return nil
}

// send sends statements together, and returns the response to the last one.
func send(ctx context.Context, conn *pgxpool.Conn, b *pgx.Batch) (tag string, err error) {
	results := conn.SendBatch(ctx, b)
	for range b.Len() {
		done, err := results.Exec()
		if err != nil {
			results.Close()
			return "", err
		}
		tag = done.String()
	}
	return tag, results.Close()
}

// rollBackDelay is how long a connection waits for the end of a transaction whose caller may have
// canceled.
const rollBackDelay = 5 * time.Second

// rollBack ends a transaction if the connection still works. Otherwise, the pool closes the
// connection.
func rollBack(ctx context.Context, conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollBackDelay)
	defer cancel()
	conn.Exec(ctx, "ROLLBACK")
}
