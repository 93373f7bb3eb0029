package ledger

// applicationID marks the file as ours ("rcpt"), in PRAGMA application_id.
const applicationID = 0x72637074

// migrations are the steps from one version of the tables to the next; PRAGMA
// user_version counts those that were made. A released step never changes.
//
// A fork is impossible by the tables alone: a receipt has one successor in its
// stream, and each stream one beginning.
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
	CASE WHEN r.seq > p.after THEN p.archive END AS archive
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

// The versions of the tables that first have something.
const (
	subjects = 2 // the column subject
	marks    = 2 // the table state, and so a mark beside the ledger
	prunings = 3 // the table prunings
	afters   = 4 // its column after
)

// subjectOf is that column, read from the receipt itself. What is damaged has none.
const subjectOf = `CASE
	WHEN NOT json_valid(CAST(json AS TEXT)) THEN NULL
	WHEN json_extract(CAST(json AS TEXT), '$.subject.object') = 'task'
		THEN nullif(nullif(json_extract(CAST(json AS TEXT), '$.subject.id'), ''), task)
	END`
