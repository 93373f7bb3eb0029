package schemas

import "embed"

//go:embed *.schema.json
var files embed.FS

// A Name names one of the embedded schemas.
type Name string

const (
	Receipt     Name = "receipt-2026-04-25" // the receipt
	Report      Name = "report"             // what a verification says of one receipt
	Summary     Name = "summary"            // what it says of a whole run
	Verify      Name = "verify"             // reports and summary, as receipt verify --format json writes them
	Keys        Name = "keys"               // the file of trusted keys, a JWK Set
	Batch       Name = "batch"              // the manifest of a batch
	Disclosures Name = "disclosures"        // values that were withheld from a receipt

	ReplayRequest Name = "replay-request" // which dependencies of a task are replaced when it is replayed
)

// Names returns the names of all schemas.
func Names() []Name {
	return []Name{Receipt, Report, Summary, Verify, Keys, Batch, Disclosures, ReplayRequest}
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
