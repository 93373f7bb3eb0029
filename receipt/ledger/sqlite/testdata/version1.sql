-- A ledger as the first version made it. It is never edited: what it holds has to
-- be readable for ever.
PRAGMA application_id = 1919119476;
PRAGMA user_version = 1;

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
INSERT INTO streams (id, issuer, tenant, workspace, head, count) VALUES (1, 'harness_example_cloud', NULL, 'garden', x'71371419839433767d98047ad9ba00f8a58201f1101eebb3546c9a0a0d8d7815', 2);
INSERT INTO streams (id, issuer, tenant, workspace, head, count) VALUES (2, 'harness_example_cloud', 'tenant_1', 'pond', x'09d89a09f02cf6b8920002c5b272e89f1d748c42846eb7f7a482a0861387469e', 1);
INSERT INTO receipts (seq, stream, position, receipt_id, task, session, issued_at, hash, previous, json) VALUES (1, 1, 1, 'receipt_1', 'task_receipt_1', 'session_1', 1777143600000, x'f13f8f5a17e74b9fc5587911a3b7efe8a02de933024000c11f39e4bf3c1ced27', NULL, CAST('{"approvals":[],"autonomy_budget":{"consumed":{}},"chain":{"previous_receipt_hash":null,"receipt_hash":"sha256:f13f8f5a17e74b9fc5587911a3b7efe8a02de933024000c11f39e4bf3c1ced27"},"cost":{"currency":"USD","provider_breakdown":[],"total":0},"deltas":[],"final_artifacts":[],"identifiers":{"session_id":"session_1","task_id":"task_receipt_1","workspace_ref":"garden"},"issued_at":"2026-04-25T19:00:00Z","issuer":{"id":"harness_example_cloud","kind":"harness"},"lifecycle":{"completed_at":"2026-04-25T19:00:00Z","failure":null,"final_state":"SUCCEEDED","started_at":"2026-04-25T19:00:00Z"},"metadata":{},"model_route":{"alternatives_considered":[],"chosen_model":{"model":"none","provider":"none"},"route_policy_reason":"none"},"receipt_id":"receipt_1","redactions":[],"replay_input":{"determinism":"unavailable","materials":[]},"schema":"receipt-2026-04-25","side_effects":{"a2a_handoffs":[],"fs_writes":[],"network_egress":[],"tool_calls":[]},"signatures":[{"algorithm":"ed25519","key_id":"key_2026_04","signature":"base64:n+D3Fa/pVX68gcy5TgLZdd1b7vwXK1XUb1tPzs1HW9CAOHdm/EDh3HxMQIdQD84TLUzgnnNd34kMfGrpbC8fAA==","signed_at":"2026-04-25T20:00:00Z"}],"subject":{"id":"task_receipt_1","object":"task"},"trust":{"end_tier":"act_auto","start_tier":"act_auto"}}' AS BLOB));
INSERT INTO receipts (seq, stream, position, receipt_id, task, session, issued_at, hash, previous, json) VALUES (2, 1, 2, 'receipt_2', 'task_receipt_2', 'session_1', 1777143600000, x'71371419839433767d98047ad9ba00f8a58201f1101eebb3546c9a0a0d8d7815', x'f13f8f5a17e74b9fc5587911a3b7efe8a02de933024000c11f39e4bf3c1ced27', CAST('{"approvals":[],"autonomy_budget":{"consumed":{}},"chain":{"previous_receipt_hash":"sha256:f13f8f5a17e74b9fc5587911a3b7efe8a02de933024000c11f39e4bf3c1ced27","receipt_hash":"sha256:71371419839433767d98047ad9ba00f8a58201f1101eebb3546c9a0a0d8d7815"},"cost":{"currency":"USD","provider_breakdown":[],"total":0},"deltas":[],"final_artifacts":[],"identifiers":{"session_id":"session_1","task_id":"task_receipt_2","workspace_ref":"garden"},"issued_at":"2026-04-25T19:00:00Z","issuer":{"id":"harness_example_cloud","kind":"harness"},"lifecycle":{"completed_at":"2026-04-25T19:00:00Z","failure":null,"final_state":"SUCCEEDED","started_at":"2026-04-25T19:00:00Z"},"metadata":{},"model_route":{"alternatives_considered":[],"chosen_model":{"model":"none","provider":"none"},"route_policy_reason":"none"},"receipt_id":"receipt_2","redactions":[],"replay_input":{"determinism":"unavailable","materials":[]},"schema":"receipt-2026-04-25","side_effects":{"a2a_handoffs":[],"fs_writes":[],"network_egress":[],"tool_calls":[]},"signatures":[{"algorithm":"ed25519","key_id":"key_2026_04","signature":"base64:dLkKxnOaZNwdoLWCjy5U+j0kf7nVnCyo7AKEgWrWM9mYKUuwy7ER8st2XaWNrqAkn4t8qsNW0JJKYFM754FXAw==","signed_at":"2026-04-25T20:00:00Z"}],"subject":{"id":"task_receipt_2","object":"task"},"trust":{"end_tier":"act_auto","start_tier":"act_auto"}}' AS BLOB));
INSERT INTO receipts (seq, stream, position, receipt_id, task, session, issued_at, hash, previous, json) VALUES (3, 2, 1, 'receipt_3', 'task_receipt_3', 'session_1', 1777143600000, x'09d89a09f02cf6b8920002c5b272e89f1d748c42846eb7f7a482a0861387469e', NULL, CAST('{"approvals":[],"autonomy_budget":{"consumed":{}},"chain":{"previous_receipt_hash":null,"receipt_hash":"sha256:09d89a09f02cf6b8920002c5b272e89f1d748c42846eb7f7a482a0861387469e"},"cost":{"currency":"USD","provider_breakdown":[],"total":0},"deltas":[],"final_artifacts":[],"identifiers":{"session_id":"session_1","task_id":"task_receipt_3","tenant_id":"tenant_1","workspace_ref":"pond"},"issued_at":"2026-04-25T19:00:00Z","issuer":{"id":"harness_example_cloud","kind":"harness"},"lifecycle":{"completed_at":"2026-04-25T19:00:00Z","failure":null,"final_state":"SUCCEEDED","started_at":"2026-04-25T19:00:00Z"},"metadata":{},"model_route":{"alternatives_considered":[],"chosen_model":{"model":"none","provider":"none"},"route_policy_reason":"none"},"receipt_id":"receipt_3","redactions":[],"replay_input":{"determinism":"unavailable","materials":[]},"schema":"receipt-2026-04-25","side_effects":{"a2a_handoffs":[],"fs_writes":[],"network_egress":[],"tool_calls":[]},"signatures":[{"algorithm":"ed25519","key_id":"key_2026_04","signature":"base64:7Uwz8jU150soJNyKNy5y5VMTWrZ6yGKgsxQLDICGvSK2zJkf4lxiKd8EhXSTUzAOeav0XLs0D2Hsvt/H4vGLCg==","signed_at":"2026-04-25T20:00:00Z"}],"subject":{"id":"task_receipt_3","object":"task"},"trust":{"end_tier":"act_auto","start_tier":"act_auto"}}' AS BLOB));
