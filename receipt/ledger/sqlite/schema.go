package sqlite

import (
	"embed"
	"fmt"
)

// applicationID identifies the file as a ledger of this program ("rcpt"), in PRAGMA application_id.
const applicationID = 0x72637074

// These are the versions of the tables that introduced certain features.
const (
	subjects = 2 // the column subject
	marks    = 2 // the table state, which FILE-head requires
	prunings = 3 // the table prunings
	afters   = 4 // its column after
	latest   = 4
)

//go:embed schema/*.sql
var schema embed.FS

// migrations returns the steps from each version of the tables to the next; PRAGMA user_version
// contains the number of steps that have been applied. A step that has been released never changes.
//
// The tables themselves prevent forks: in a stream, a receipt can have only one successor, and only
// one receipt can be the first.
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

// subjectOf is an SQL expression that reads the value of the column subject from the receipt
// itself. A damaged receipt has no subject.
const subjectOf = `CASE
	WHEN NOT json_valid(CAST(r.json AS TEXT)) THEN NULL
	WHEN json_extract(CAST(r.json AS TEXT), '$.subject.object') = 'task'
		THEN nullif(nullif(json_extract(CAST(r.json AS TEXT), '$.subject.id'), ''), r.task)
	END`
