package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A layout is the way in which the tables of a version are read, by any connection.
type layout struct {
	tables atomic.Int64 // their version; a newer program may bring them up to date meanwhile
}

// has reports whether the tables have a feature that a version introduced.
func (l *layout) has(version int64) bool { return l.tables.Load() >= version }

// prunedTo returns an expression for the sequence of the last pruned receipt, 0 if there is none.
func (l *layout) prunedTo() string {
	if !l.has(prunings) {
		return "0"
	}
	return "ifnull((SELECT last FROM prunings ORDER BY size DESC LIMIT 1), 0)"
}

// subject returns the column subject, or the expression that replaces it.
func (l *layout) subject() string {
	if !l.has(subjects) {
		return subjectOf
	}
	return "subject"
}

// selectRows returns the beginning of a query of rows r for scan.
func (l *layout) selectRows() string {
	subject := "r.subject"
	if !l.has(subjects) {
		subject = "NULL"
	}
	return "SELECT r.seq, r.position, r.receipt_id, r.task, " + subject + `, r.session, r.issued_at, r.hash, r.previous, r.json,
	s.issuer, s.tenant, s.workspace, s.head, s.count, p.seq, p.hash, ` + l.prunedTo() + `
FROM receipts r LEFT JOIN streams s ON s.id = r.stream LEFT JOIN receipts p ON p.stream = r.stream AND p.position = r.position - 1
`
}

// statement selects the rows after a receipt, up to a last one. A task's receipts are in two
// indexes, each in the order of seq, and none is in both.
func (l *layout) statement(q query, after, last int64, limit int) (string, []any) {
	where, args := q.conditions(after, last)
	if !q.Pruned {
		where += " AND seq > " + l.prunedTo()
	}
	choice, args := l.choice(q, where, args)
	choice += " ORDER BY seq LIMIT ?"
	return l.selectRows() + "WHERE r.seq IN (" + choice + ") ORDER BY r.seq", append(args, limit)
}

// choice selects the sequences of the rows that match a query and conditions.
func (l *layout) choice(q query, where string, args []any) (string, []any) {
	choice := "SELECT seq FROM receipts WHERE " + where
	if q.Task != "" {
		choice += " AND task = ? UNION ALL " + choice + " AND " + l.subject() + " = ?"
		args = slices.Concat(args, []any{q.Task}, args, []any{q.Task})
	}
	return choice, args
}

// one returns the one row that matches a condition, if it is unaltered.
func (l *layout) one(ctx context.Context, q querier, where string, args ...any) (*stored, error) {
	r, err := l.raw(ctx, q, where, args...)
	if err != nil {
		return nil, err
	}
	return r, l.check(r)
}

// raw is one without checking the row.
func (l *layout) raw(ctx context.Context, q querier, where string, args ...any) (*stored, error) {
	r := new(stored)
	err := r.scan(q.QueryRowContext(ctx, l.selectRows()+where, args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ledger.ErrNotFound
	}
	return r, err
}

// check compares a row with the receipt in it and with the rows around it. If it was altered, the
// error is a *DamageError. Whether the content of the receipt matches its hash is not checked here.
func (l *layout) check(r *stored) error {
	if err := l.fits(r); err != nil {
		return err
	}
	return r.place()
}

// fits compares a row with the receipt in it.
func (l *layout) fits(r *stored) error {
	if r.pruned() {
		if damage := r.empty(); damage != nil {
			return damage
		}
		return nil
	}

	var own row
	if err := own.read(r.json); err != nil {
		return ledger.Unreadable(r.id, r.stream, err)
	}

	if !l.has(subjects) {
		r.subject = own.subject
	}

	if columns := r.differences(&own); len(columns) > 0 {
		return damageOf(ledger.FaultRow, r.id, r.stream, ledger.OtherColumn(columns[0]))
	}
	return nil
}

// head returns a stream's row and head, zero if there is none. The row is compared with the last
// receipt, because a receipt that is linked to another hash would be invalid.
func (l *layout) head(ctx context.Context, q querier, s chain.Stream) (id int64, h chain.Head, err error) {
	if id, h, err = headRow(ctx, q, s); err == nil && id != 0 {
		err = l.ends(ctx, q, id, s, h)
	}
	if err != nil {
		return 0, chain.Head{}, err
	}
	return id, h, nil
}

// ends makes sure that the last receipt of a stream, whose row is id, is its head.
func (l *layout) ends(ctx context.Context, q querier, id int64, s chain.Stream, h chain.Head) error {
	last, err := l.one(ctx, q, "WHERE r.stream = ? AND r.position = ?", id, h.Count)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return damageOf(ledger.FaultMissing, "", s, fmt.Sprintf("the last receipt of a stream is gone, number %d with the hash %v", h.Count, h.Hash))
	case err == nil && (last.link.Hash != h.Hash || last.stream != s || last.position != h.Count):
		return damageOf(string(receipt.CodeHeadMismatch), last.id, s, fmt.Sprintf("it is the last of its stream, whose head is said to be %v", h.Hash))
	}
	return err
}

// forks reports whether an earlier receipt names the same predecessor. A row that differs from its
// receipt proves nothing.
func (l *layout) forks(ctx context.Context, q querier, r *stored) (bool, error) {
	other, err := l.raw(ctx, q, `WHERE r.seq = (SELECT min(o.seq) FROM receipts o JOIN receipts x ON x.stream = o.stream
	WHERE x.seq = ? AND o.seq < x.seq AND ifnull(o.previous, x'') = ifnull(x.previous, x''))`, r.sequence)
	if errors.Is(err, ledger.ErrNotFound) {
		return false, nil
	}
	return err == nil && l.fits(other) == nil, err
}

// prunedError returns the error for a pruned row.
func (l *layout) prunedError(ctx context.Context, q querier, r *stored) error {
	p, err := scanPruning(q.QueryRowContext(ctx, l.selectPrunings()+" WHERE last >= ? ORDER BY last LIMIT 1", r.sequence).Scan)
	if err != nil {
		return err
	}
	if r.sequence <= p.After {
		return damageOf(ledger.FaultMissing, r.id, r.stream, "it was pruned, and the row that names its archive is gone")
	}
	return &ledger.PrunedError{ID: r.id, Hash: r.link.Hash, Stream: r.stream, Pruning: *p}
}

// selectPrunings returns the beginning of a query of prunings p. In an older version, no row shows
// whether the one before it is missing.
func (l *layout) selectPrunings() string {
	after := "after"
	if !l.has(afters) {
		after = "ifnull((SELECT max(b.last) FROM prunings b WHERE b.size < p.size), 0)"
	}
	return "SELECT size, " + after + ", last, root, checkpoint, archive, digest FROM prunings p"
}

// prunings returns the prunings as their table has them, the first one first.
func (l *layout) prunings(ctx context.Context, q rowQuerier) (list []ledger.Pruning, err error) {
	if !l.has(prunings) {
		return nil, nil
	}
	rows, err := q.QueryContext(ctx, l.selectPrunings()+" ORDER BY size")
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	for rows.Next() {
		p, err := scanPruning(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, *p)
	}
	return list, rows.Err()
}

// applicationID marks the file as ours ("rcpt"), in PRAGMA application_id.
const applicationID = 0x72637074

// migrations returns the steps from one version of the tables to the next; PRAGMA user_version
// counts the completed ones. A released step never changes.
//
// The tables themselves make a fork impossible: a receipt has one successor in its stream, and each
// stream one beginning.
func migrations() []string {
	return []string{`
CREATE TABLE streams (
	id        INTEGER PRIMARY KEY,
	issuer    TEXT NOT NULL,
	tenant    TEXT, -- NULL: none, which differs from ''
	workspace TEXT NOT NULL,
	head      BLOB NOT NULL CHECK (length(head) = 32),
	count     INTEGER NOT NULL CHECK (count > 0)
) STRICT;
CREATE UNIQUE INDEX streams_name ON streams (issuer, tenant IS NULL, ifnull(tenant, ''), workspace);

CREATE TABLE receipts (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they were stored
	stream     INTEGER NOT NULL REFERENCES streams (id),
	position   INTEGER NOT NULL CHECK (position > 0), -- in the stream, without gaps
	receipt_id TEXT NOT NULL UNIQUE,
	task       TEXT,
	session    TEXT,
	issued_at  INTEGER NOT NULL, -- milliseconds since 1970, UTC
	hash       BLOB NOT NULL CHECK (length(hash) = 32),
	previous   BLOB CHECK (length(previous) = 32), -- NULL: the first of its stream
	json       BLOB NOT NULL -- the receipt, byte for byte
) STRICT;
CREATE UNIQUE INDEX receipts_place ON receipts (stream, position);
CREATE UNIQUE INDEX receipts_previous ON receipts (stream, ifnull(previous, x''));
CREATE INDEX receipts_hash ON receipts (hash);
-- each of these is in the order of seq, too, the row's own key
CREATE INDEX receipts_stream ON receipts (stream);
CREATE INDEX receipts_task ON receipts (task);
CREATE INDEX receipts_session ON receipts (session);
CREATE INDEX receipts_time ON receipts (issued_at);

CREATE VIEW receipt AS SELECT
	r.seq, r.receipt_id, s.issuer, s.tenant, s.workspace, r.position, r.task, r.session,
	strftime('%Y-%m-%dT%H:%M:%fZ', r.issued_at / 1000.0, 'unixepoch') AS issued_at,
	'sha256:' || lower(hex(r.hash)) AS hash,
	'sha256:' || lower(hex(r.previous)) AS previous,
	json_extract(CAST(r.json AS TEXT), '$.lifecycle.final_state') AS state,
	json_extract(CAST(r.json AS TEXT), '$.model_route.chosen_model.provider') AS provider,
	json_extract(CAST(r.json AS TEXT), '$.model_route.chosen_model.model') AS model,
	json_extract(CAST(r.json AS TEXT), '$.cost.total') AS cost,
	json_extract(CAST(r.json AS TEXT), '$.cost.currency') AS currency,
	CAST(r.json AS TEXT) AS json
FROM receipts r JOIN streams s ON s.id = r.stream;
`, `
ALTER TABLE receipts ADD COLUMN subject TEXT; -- the task that is the subject, where it is not the one in task
UPDATE receipts SET subject = ` + subjectOf + ` WHERE ` + subjectOf + ` IS NOT NULL;
CREATE INDEX receipts_subject ON receipts (subject) WHERE subject IS NOT NULL;

CREATE TABLE state (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	ledger  BLOB NOT NULL CHECK (length(ledger) = 16), -- its name
	commits INTEGER NOT NULL -- how often somebody wrote into it
) STRICT;
INSERT INTO state VALUES (1, randomblob(16), 0);
`, `
DROP VIEW receipt;
CREATE VIEW receipt AS SELECT
	r.seq, r.receipt_id, s.issuer, s.tenant, s.workspace, r.position, r.task, r.session,
	strftime('%Y-%m-%dT%H:%M:%fZ', r.issued_at / 1000.0, 'unixepoch') AS issued_at,
	'sha256:' || lower(hex(r.hash)) AS hash,
	'sha256:' || lower(hex(r.previous)) AS previous,
	json_extract(CAST(r.json AS TEXT), '$.lifecycle.final_state') AS state,
	json_extract(CAST(r.json AS TEXT), '$.model_route.chosen_model.provider') AS provider,
	json_extract(CAST(r.json AS TEXT), '$.model_route.chosen_model.model') AS model,
	json_extract(CAST(r.json AS TEXT), '$.cost.total') AS cost,
	json_extract(CAST(r.json AS TEXT), '$.cost.currency') AS currency,
	CAST(r.json AS TEXT) AS json
FROM receipts r JOIN streams s ON s.id = r.stream WHERE r.json <> x'';
CREATE VIEW pruned AS SELECT
	r.seq, r.receipt_id, r.task, r.session, 'sha256:' || lower(hex(r.hash)) AS hash, p.archive
FROM receipts r JOIN prunings p ON p.last = (SELECT min(last) FROM prunings WHERE last >= r.seq);

-- The first receipts of all, as they are under a checkpoint, have no content here: their
-- json is empty, and an archive has it. Size is how many they are, last the seq of the last.
-- A table has to come last: after a view integrity_check passes over pages that nothing uses.
CREATE TABLE prunings (
	size INTEGER PRIMARY KEY,
	last INTEGER NOT NULL,
	root BLOB NOT NULL,
	checkpoint BLOB NOT NULL,
	archive TEXT NOT NULL,
	digest BLOB NOT NULL
) STRICT;
`, `
DROP VIEW pruned;
ALTER TABLE prunings RENAME TO prunings_3;
CREATE VIEW pruned AS SELECT
	r.seq, r.receipt_id, r.task, r.session, 'sha256:' || lower(hex(r.hash)) AS hash,
	CASE WHEN r.seq > p.After THEN p.archive END AS archive
FROM receipts r JOIN prunings p ON p.last = (SELECT min(last) FROM prunings WHERE last >= r.seq);

-- As before, with the seq of the last receipt of the pruning before, 0 if there is none: each
-- row shows whether the row before it is still there.
CREATE TABLE prunings (
	size INTEGER PRIMARY KEY,
	after INTEGER NOT NULL,
	last INTEGER NOT NULL,
	root BLOB NOT NULL,
	checkpoint BLOB NOT NULL,
	archive TEXT NOT NULL,
	digest BLOB NOT NULL
) STRICT;
INSERT INTO prunings SELECT size, ifnull((SELECT max(b.last) FROM prunings_3 b WHERE b.size < p.size), 0), last, root, checkpoint, archive, digest FROM prunings_3 p;
DROP TABLE prunings_3;
`}
}

// The versions of the tables that introduced a feature.
const (
	subjects = 2 // the column subject
	marks    = 2 // the table state, and so a mark next to the ledger
	prunings = 3 // the table prunings
	afters   = 4 // its column after
)

// subjectOf is the value of the column subject, read from the receipt itself. A damaged receipt has
// none.
const subjectOf = `CASE
	WHEN NOT json_valid(CAST(json AS TEXT)) THEN NULL
	WHEN json_extract(CAST(json AS TEXT), '$.subject.object') = 'task'
		THEN nullif(nullif(json_extract(CAST(json AS TEXT), '$.subject.id'), ''), task)
	END`
