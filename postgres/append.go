package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// nameOf returns the hash that identifies a stream. It covers all names in the stream. Each name is
// preceded by its length.
func nameOf(s chain.Stream) []byte {
	var text []byte
	for _, name := range []string{s.Issuer, s.Workspace} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(name)))
		text = append(text, name...)
	}
	if s.HasTenant {
		text = append(text, 't')
		text = append(text, s.Tenant...)
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// An end is the end of a stream, as recorded in the tables.
type end struct {
	ledger.StreamHead
	id   int64  // ID of the stream, or 0 if there is no such stream
	last []byte // hash of the last receipt in the stream
}

// selectEnds selects the ends of the streams s.
const selectEnds = `SELECT s.id, s.issuer, s.tenant, s.workspace, s.head, s.count, r.hash,
	coalesce((SELECT max(position) FROM ledger_receipts WHERE stream = s.id), 0)
FROM ledger_streams s LEFT JOIN ledger_receipts r ON r.stream = s.id AND r.position = s.count`

// scanEnd reads a row that selectEnds returned.
func scanEnd(row pgx.CollectableRow) (e end, err error) {
	var issuer, tenant, workspace, head []byte
	err = row.Scan(&e.id, &issuer, &tenant, &workspace, &head, &e.Head.Count, &e.last, &e.Last)
	e.Stream, e.Head.Hash = streamOf(issuer, tenant, workspace), digest(head)
	return e, err
}

// Head implements [ledger.Store].
func (l *Ledger) Head(ctx context.Context, s chain.Stream) (chain.Head, error) {
	ends, err := endsOf(ctx, l.pool, [][]byte{nameOf(s)})
	return ends[s].Head, l.wrap(ctx, "read the head of a stream", err)
}

// endsOf returns the ends of the streams with the given names, except for streams that have no
// receipts.
func endsOf(ctx context.Context, db querier, names [][]byte) (map[chain.Stream]end, error) {
	rows, err := db.Query(ctx, selectEnds+" WHERE s.name = ANY ($1)", names)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scanEnd)
	ends := map[chain.Stream]end{}
	for _, e := range list {
		if err := e.Check(e.last); err != nil {
			return nil, err
		}
		ends[e.Stream] = e
	}
	return ends, err
}

// Append implements [ledger.Store].
func (l *Ledger) Append(ctx context.Context, runs ...ledger.Run) error {
	rows, err := ledger.RowsOf(runs...)
	if err != nil {
		return err
	}
	a := &appending{rows: rows, ends: map[chain.Stream]end{}}
	for _, run := range runs {
		if _, known := a.ends[run.Stream]; !known {
			a.names = append(a.names, nameOf(run.Stream))
			a.ends[run.Stream] = end{}
		}
	}
	if len(slices.Concat(rows...)) == 0 {
		return nil
	}

	return l.transact(ctx, "store receipts", func(conn *pgxpool.Conn) (*pgx.Batch, error) {
		if err := a.lock(ctx, conn); err != nil {
			return nil, err
		}
		for i, run := range runs {
			if err := a.extend(run, rows[i]); err != nil {
				return nil, err
			}
		}
		return a.statements(), nil
	})
}

// appending describes the rows that a transaction appends.
type appending struct {
	rows  [][]ledger.Row
	names [][]byte             // of the streams
	ends  map[chain.Stream]end // ends of these streams after the rows have been placed
}

// lock locks the ends of the streams until the transaction ends, always in the same order, and
// reads them. If an ID is a duplicate and the head has also moved, the duplicate ID is reported, so
// that a repeated draft finds its receipt.
func (a *appending) lock(ctx context.Context, conn *pgxpool.Conn) error {
	var ids [][]byte
	for _, r := range slices.Concat(a.rows...) {
		sum := sha256.Sum256([]byte(r.ID))
		ids = append(ids, sum[:])
	}

	// Each statement sees the data that was committed before it, so the ends are read after the
	// locks have been acquired.
	b := &pgx.Batch{}
	var taken int
	b.Queue("SELECT FROM ledger_streams WHERE name = ANY ($1) ORDER BY name FOR UPDATE", a.names)
	b.Queue("SELECT count(*) FROM ledger_receipts WHERE sha256(receipt_id) = ANY ($1)", ids).QueryRow(func(row pgx.Row) error { return row.Scan(&taken) })
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if taken > 0 {
		return ledger.ErrDuplicateID
	}

	ends, err := endsOf(ctx, conn, a.names)
	maps.Copy(a.ends, ends)
	return err
}

// extend places the rows of a run after the end of its stream.
func (a *appending) extend(run ledger.Run, rows []ledger.Row) error {
	e := a.ends[run.Stream]
	if len(rows) > 0 && e.Head.Hash != run.Previous.Hash {
		return ledger.ErrHeadMoved
	}
	for i := range rows {
		e.Head = chain.Head{Hash: rows[i].Hash, Count: e.Head.Count + 1}
		rows[i].Position = e.Head.Count
	}
	a.ends[run.Stream] = e
	return nil
}

// statements returns the statements that write the rows. They are the last statements of the
// transaction, because the lock on the sequence numbers is held until the commit. New streams are
// sorted by name to avoid deadlocks, because other processes may add the same streams.
func (a *appending) statements() *pgx.Batch {
	b := &pgx.Batch{}
	byName := func(s, t chain.Stream) int { return bytes.Compare(nameOf(s), nameOf(t)) }
	for _, s := range slices.SortedFunc(maps.Keys(a.ends), byName) {
		switch e := a.ends[s]; {
		case e.id > 0:
			b.Queue("UPDATE ledger_streams SET head = $2, count = $3 WHERE id = $1", e.id, e.Head.Hash[:], e.Head.Count)
		case e.Head.Count > 0:
			var tenant []byte
			if s.HasTenant {
				tenant = []byte(s.Tenant)
			}
			b.Queue("INSERT INTO ledger_streams (name, issuer, tenant, workspace, head, count) VALUES ($1, $2, $3, $4, $5, $6)",
				nameOf(s), []byte(s.Issuer), tenant, []byte(s.Workspace), e.Head.Hash[:], e.Head.Count)
		}
	}

	rows := slices.Concat(a.rows...)
	b.Queue("UPDATE ledger SET last = last + $1", len(rows))
	for i, r := range rows {
		previous := []byte{}
		if !r.First {
			previous = r.Previous[:]
		}
		b.Queue(`INSERT INTO ledger_receipts (seq, stream, position, receipt_id, task, subject, session, issued_at, hash, previous, json)
SELECT ledger.last - $1, s.id, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM ledger, ledger_streams s WHERE s.name = $2`,
			len(rows)-1-i, nameOf(r.Stream), r.Position, []byte(r.ID), []byte(r.Task), []byte(r.Subject), []byte(r.Session), r.IssuedAt, r.Hash[:], previous, r.JSON)
	}
	return b
}

// Replace implements [ledger.Replacer].
func (l *Ledger) Replace(ctx context.Context, was, is *receipt.Sealed) (replaced bool, err error) {
	hash := was.Hash()
	err = l.transact(ctx, "add a signature", func(conn *pgxpool.Conn) (*pgx.Batch, error) {
		tag, err := conn.Exec(ctx, "UPDATE ledger_receipts r SET json = $2 WHERE sha256(r.receipt_id) = sha256($1) AND hash = $3 AND json = $4", []byte(is.ID()), is.JSON(), hash[:], was.JSON())
		replaced = tag.RowsAffected() == 1
		return &pgx.Batch{}, err
	})
	return replaced && err == nil, err
}
