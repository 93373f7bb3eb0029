package schemas

import "embed"

//go:embed *.schema.json
var files embed.FS

// A Name names one of the embedded schemas. Names are promised by their text:
//
//	receipt-2026-04-25  the receipt
//	report              what a verification says of one receipt
//	summary             what it says of a whole run
//	verify              reports and summary, as the command writes them
//	keys                the file of trusted keys, a JWK Set
//	batch               the manifest of a batch
//	disclosures         values that were withheld from a receipt
//	replay-request      which dependencies of a task are replaced when it is replayed
//	session-bundle      one run of an agent in one portable file
//	event               what happened in a task: a line of the log that receipts are made of
type Name string

// Receipt is the schema of receipts.
const Receipt Name = "receipt-2026-04-25"

// Names returns the names of all schemas.
func Names() []Name {
	return []Name{Receipt, "report", "summary", "verify", "keys", "batch", "disclosures", "replay-request", "session-bundle", "event"}
}

// Source returns the text of a schema. It reports false for an unknown name.
// The text belongs to the caller.
func Source(n Name) ([]byte, bool) {
	text, err := files.ReadFile(string(n) + ".schema.json")
	return text, err == nil
}

// id is the $id of an embedded schema: a name, not a place to fetch it from.
func id(n Name) string { return idPrefix + string(n) }

const idPrefix = "urn:receiptkit:schema:"
