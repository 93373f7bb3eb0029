
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
