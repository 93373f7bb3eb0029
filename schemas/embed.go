package schemas

import "embed"

//go:embed *.schema.json
var files embed.FS

// A Name names one of the embedded schemas.
type Name string

const (
	Receipt Name = "receipt-2026-04-25" // the receipt
	Report  Name = "report"             // what a verification says of one receipt
	Summary Name = "summary"            // what it says of a whole run
	Keys    Name = "keys"               // the file of trusted keys, a JWK Set
)

// Names returns the names of all schemas.
func Names() []Name { return []Name{Receipt, Report, Summary, Keys} }

// Source returns the text of a schema. It reports false for an unknown name.
func Source(n Name) ([]byte, bool) {
	text, err := files.ReadFile(string(n) + ".schema.json")
	return text, err == nil
}
