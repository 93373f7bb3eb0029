
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
