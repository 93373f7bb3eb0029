package sqlite

import (
	"embed"
	"fmt"
)

// applicationID marks the file as ours ("rcpt"), in PRAGMA application_id.
const applicationID = 0x72637074

// The versions of the tables that introduced a feature.
const (
	subjects = 2 // the column subject
	marks    = 2 // the table state, which makes a mark next to the ledger possible
	prunings = 3 // the table prunings
	afters   = 4 // its column after
	latest   = 4
)

//go:embed schema/*.sql
var schema embed.FS

// migrations returns the steps from each version of the tables to the next; PRAGMA user_version
// counts the completed steps. A released step never changes.
//
// The tables themselves prevent forks: a receipt can have only one successor in its stream, and
// each stream can have only one first receipt.
func migrations() []string {
	steps := make([]string, latest)
	for i := range steps {
		step, err := schema.ReadFile(fmt.Sprintf("schema/%d.sql", i+1))
		if err != nil {
			panic(err) // it is embedded
		}
		steps[i] = string(step)
	}
	return steps
}

// subjectOf is the value of the column subject, read from the receipt itself. A damaged receipt has
// no subject.
const subjectOf = `CASE
	WHEN NOT json_valid(CAST(r.json AS TEXT)) THEN NULL
	WHEN json_extract(CAST(r.json AS TEXT), '$.subject.object') = 'task'
		THEN nullif(nullif(json_extract(CAST(r.json AS TEXT), '$.subject.id'), ''), r.task)
	END`
