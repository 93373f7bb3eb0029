
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
