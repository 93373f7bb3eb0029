-- The tables of a ledger. Names and IDs are bytes, because PostgreSQL's text has no NUL. Indexes
-- are over their SHA-256, because an entry of an index has at most 2,704 bytes.
--
-- The tables themselves make a fork impossible: a receipt has one successor in its stream, and
-- each stream one beginning.

CREATE TABLE ledger (
	version integer NOT NULL CHECK (version = 1),
	last    bigint NOT NULL -- sequence of the last receipt of all; its lock orders appends
);
CREATE UNIQUE INDEX ledger_one ON ledger ((true));
INSERT INTO ledger VALUES (1, 0);

CREATE TABLE ledger_streams (
	id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name      bytea NOT NULL CONSTRAINT ledger_streams_name UNIQUE, -- SHA-256 of the next three
	issuer    bytea NOT NULL,
	tenant    bytea, -- NULL: none, which differs from ''
	workspace bytea NOT NULL,
	head      bytea NOT NULL CHECK (length(head) = 32),
	count     bigint NOT NULL CHECK (count > 0)
);

CREATE TABLE ledger_receipts (
	seq        bigint PRIMARY KEY, -- the order in which receipts were stored, without gaps
	stream     bigint NOT NULL REFERENCES ledger_streams (id),
	position   bigint NOT NULL CHECK (position > 0), -- in the stream, without gaps
	receipt_id bytea NOT NULL,
	task       bytea NOT NULL, -- '': none
	subject    bytea NOT NULL, -- the task that is the subject, if it is not the one in task
	session    bytea NOT NULL,
	issued_at  bigint NOT NULL, -- milliseconds since 1970, UTC
	hash       bytea NOT NULL CHECK (length(hash) = 32),
	previous   bytea NOT NULL CHECK (length(previous) IN (0, 32)), -- '': the first of its stream
	json       bytea NOT NULL, -- the receipt, byte for byte; '': pruned
	CONSTRAINT ledger_receipts_place UNIQUE (stream, position),
	CONSTRAINT ledger_receipts_previous UNIQUE (stream, previous)
);
CREATE UNIQUE INDEX ledger_receipts_id ON ledger_receipts (sha256(receipt_id));
CREATE INDEX ledger_receipts_hash ON ledger_receipts (hash);
CREATE INDEX ledger_receipts_stream ON ledger_receipts (stream, seq);
CREATE INDEX ledger_receipts_task ON ledger_receipts (sha256(task), seq);
CREATE INDEX ledger_receipts_subject ON ledger_receipts (sha256(subject), seq) WHERE subject <> '';
CREATE INDEX ledger_receipts_session ON ledger_receipts (sha256(session), seq);
CREATE INDEX ledger_receipts_time ON ledger_receipts (issued_at, seq);

-- The first receipts of all have no content here: checkpoints cover them, and archives contain
-- them.
CREATE TABLE ledger_prunings (
	size       bigint PRIMARY KEY, -- receipts under the checkpoint
	after      bigint NOT NULL, -- sequence of the last receipt of the pruning before, or 0
	last       bigint NOT NULL, -- sequence of the last receipt under the checkpoint
	root       bytea NOT NULL,
	checkpoint bytea NOT NULL,
	archive    bytea NOT NULL,
	digest     bytea NOT NULL
);
