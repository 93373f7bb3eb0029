package schemas

import "embed"

//go:embed *.schema.json
var files embed.FS

// A Name identifies an embedded schema. Names never change; their string forms are:
//
//	receipt-2026-04-25  a receipt
//	report              the verification report of one receipt
//	summary             the summary of a verification run
//	verify              reports and summary, as the command writes them
//	keys                a file of trusted keys, a JWK Set
//	batch               the manifest of a batch
//	disclosures         values that were withheld from a receipt
//	replay-request      the dependencies of a task that a replay replaces
//	session-bundle      one run of an agent in one portable file
//	event               an event of a task: a line of the log from which receipts are drafted
type Name string

// Receipt is the name of the receipt schema.
const Receipt Name = "receipt-2026-04-25"

// Names returns the names of all schemas.
func Names() []Name {
	return []Name{Receipt, "report", "summary", "verify", "keys", "batch", "disclosures", "replay-request", "session-bundle", "event"}
}

// Source returns the text of a schema. It returns false for an unknown name. The caller owns the
// text.
func Source(n Name) ([]byte, bool) {
	text, err := files.ReadFile(string(n) + ".schema.json")
	return text, err == nil
}

// id returns the $id of an embedded schema. The $id is a name, not a location.
func id(n Name) string { return idPrefix + string(n) }

const idPrefix = "urn:receiptkit:schema:"
