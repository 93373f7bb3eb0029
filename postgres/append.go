package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// nameOf returns the hash that identifies a stream: of its names, each after its length.
func nameOf(s chain.Stream) []byte {
	var text []byte
	for _, name := range []string{s.Issuer, s.Workspace} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(name)))
		text = append(text, name...)
	}
	if s.HasTenant {
		text = append(text, s.Tenant...)
		text = append(text, 't')
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// A place is the end of a stream, as the tables have it.
type place struct {
	stream int64 // 0: there is no such stream
	head   chain.Head
}

// selectHead selects the head of a stream and the hash of its last receipt.
const selectHead = `SELECT s.id, s.head, s.count, r.hash
FROM ledger_streams s LEFT JOIN ledger_receipts r ON r.stream = s.id AND r.position = s.count WHERE s.name = $1`

// scanHead reads the row of selectHead.
func scanHead(row pgx.Row, s chain.Stream) (p place, err error) {
	var head, last []byte
	err = row.Scan(&p.stream, &head, &p.head.Count, &last)
	if errors.Is(err, pgx.ErrNoRows) {
		return place{}, nil
	}
	if err != nil {
		return place{}, err
	}

	// A receipt that is linked to another hash than that of the last one would be invalid.
	p.head.Hash = digest(head)
	if !bytes.Equal(last, head) {
		return place{}, &ledger.DamageError{Code: string(receipt.CodeHeadMismatch), Stream: s,
			Detail: fmt.Sprintf("number %d of a stream is not its head, which is said to be %v", p.head.Count, p.head.Hash)}
	}
	return p, nil
}

// Head is described at [ledger.Store].
func (l *Ledger) Head(ctx context.Context, s chain.Stream) (chain.Head, error) {
	p, err := scanHead(l.pool.QueryRow(ctx, selectHead, nameOf(s)), s)
	return p.head, l.wrap(ctx, "read the head of a stream", err)
}

// Append is described at [ledger.Store].
func (l *Ledger) Append(ctx context.Context, s chain.Stream, previous chain.Head, run ...*receipt.Sealed) error {
	rows, err := rowsOf(s, previous, run)
	if err != nil || len(rows) == 0 {
		return err
	}
	return l.transact(ctx, "store receipts", func(conn *pgxpool.Conn) (*pgx.Batch, error) {
		end, err := lockHead(ctx, conn, s, rows)
		if err != nil {
			return nil, err
		}
		if end.head.Hash != previous.Hash {
			return nil, ledger.ErrHeadMoved
		}

		b := &pgx.Batch{}
		extend(b, s, end, rows)
		return b, nil
	})
}

// lockHead locks the end of a stream, so that it is the end until the transaction ends, and makes
// sure that no receipt_id is taken. A taken ID is reported before a moved head, so that a repeated
// draft finds its receipt.
func lockHead(ctx context.Context, conn *pgxpool.Conn, s chain.Stream, rows []row) (end place, err error) {
	ids := make([][]byte, len(rows))
	seen := map[string]bool{}
	for i, r := range rows {
		sum := sha256.Sum256(r.id)
		ids[i] = sum[:]
		if seen[string(r.id)] {
			return end, ledger.ErrDuplicateID
		}
		seen[string(r.id)] = true
	}

	// Each statement sees what was committed before it, so the head is read after the lock is held.
	b := &pgx.Batch{}
	b.Queue("SELECT FROM ledger_streams WHERE name = $1 FOR UPDATE", nameOf(s))
	b.Queue("SELECT count(*) FROM ledger_receipts WHERE sha256(receipt_id) = ANY ($1)", ids)
	b.Queue(selectHead, nameOf(s))
	results := conn.SendBatch(ctx, b)
	defer results.Close()

	var taken int
	if _, err := results.Exec(); err != nil {
		return end, err
	}
	if err := results.QueryRow().Scan(&taken); err != nil {
		return end, err
	}
	if taken > 0 {
		return end, ledger.ErrDuplicateID
	}
	return scanHead(results.QueryRow(), s)
}

// extend adds rows after the end of a stream, and takes their sequence numbers. It is the end of a
// transaction: the lock of the numbers is held until the commit.
func extend(b *pgx.Batch, s chain.Stream, end place, rows []row) {
	head := rows[len(rows)-1].hash
	count := end.head.Count + uint64(len(rows))
	if end.stream == 0 {
		var tenant []byte
		if s.HasTenant {
			tenant = []byte(s.Tenant)
		}
		b.Queue("INSERT INTO ledger_streams (name, issuer, tenant, workspace, head, count) VALUES ($1, $2, $3, $4, $5, $6)",
			nameOf(s), []byte(s.Issuer), tenant, []byte(s.Workspace), head, count)
	} else {
		b.Queue("UPDATE ledger_streams SET head = $2, count = $3 WHERE id = $1", end.stream, head, count)
	}

	b.Queue("UPDATE ledger SET last = last + $1", len(rows))
	for i, r := range rows {
		b.Queue(`INSERT INTO ledger_receipts (seq, stream, position, receipt_id, task, subject, session, issued_at, hash, previous, json)
SELECT ledger.last - $1, s.id, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM ledger, ledger_streams s WHERE s.name = $2`,
			len(rows)-1-i, nameOf(s), end.head.Count+1+uint64(i), r.id, r.task, r.subject, r.session, r.issuedAt, r.hash, r.previous, r.json)
	}
}

// settleDelay bounds the statements that end a transaction whose caller may have left.
const settleDelay = 5 * time.Second

// transact runs a transaction. Prepare reads and locks, and returns the statements that write, which
// are sent together with the commit: the locks that they take are not held while the client works.
func (l *Ledger) transact(ctx context.Context, what string, prepare func(*pgxpool.Conn) (*pgx.Batch, error)) error {
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return l.notStored(ctx, what, err)
	}
	defer conn.Release()

	// Without a transaction that has begun, there is nothing to undo.
	if _, err := conn.Exec(ctx, begin); err != nil {
		return l.notStored(ctx, what, err)
	}
	b, err := prepare(conn)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		rollBack(ctx, conn)
		return l.notStored(ctx, what, err)
	}

	// From here on, only the server knows the outcome.
	b.Queue("COMMIT")
	results := conn.SendBatch(ctx, b)
	tag := ""
	for range b.Len() {
		done, err := results.Exec()
		if err != nil {
			results.Close()
			rollBack(ctx, conn)
			return l.outcome(ctx, what, err)
		}
		tag = done.String()
	}
	if err := results.Close(); err != nil {
		return l.outcome(ctx, what, err)
	}
	if tag != "COMMIT" {
		return l.notStored(ctx, what, fmt.Errorf("the server answers COMMIT with %q", tag))
	}
	return nil
}

// begin starts a transaction in which each statement sees what was committed before it.
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

// rollBack ends a transaction, if the connection still works. Otherwise, the pool closes it.
func rollBack(ctx context.Context, conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleDelay)
	defer cancel()
	conn.Exec(ctx, "ROLLBACK")
}
