
ALTER TABLE receipts ADD COLUMN subject TEXT; -- the task that is the subject, where it is not the one in task
UPDATE receipts SET subject = CASE
	WHEN NOT json_valid(CAST(json AS TEXT)) THEN NULL
	WHEN json_extract(CAST(json AS TEXT), '$.subject.object') = 'task'
		THEN nullif(nullif(json_extract(CAST(json AS TEXT), '$.subject.id'), ''), task)
	END WHERE CASE
	WHEN NOT json_valid(CAST(json AS TEXT)) THEN NULL
	WHEN json_extract(CAST(json AS TEXT), '$.subject.object') = 'task'
		THEN nullif(nullif(json_extract(CAST(json AS TEXT), '$.subject.id'), ''), task)
	END IS NOT NULL;
CREATE INDEX receipts_subject ON receipts (subject) WHERE subject IS NOT NULL;

CREATE TABLE state (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	ledger  BLOB NOT NULL CHECK (length(ledger) = 16), -- its name
	commits INTEGER NOT NULL -- how often somebody wrote into it
) STRICT;
INSERT INTO state VALUES (1, randomblob(16), 0);
