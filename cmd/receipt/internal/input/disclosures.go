package input

import (
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/redact"
)

// ReadDisclosures reads a disclosure file.
func ReadDisclosures(e *cli.Env, path string) (*redact.Disclosures, error) {
	data, err := ReadBounded(e, path, maxDisclosureBytes+1)
	if err != nil {
		return nil, err
	}
	d, err := redact.ParseDisclosures(data)
	if err != nil {
		if wrong := WrongKind(path, data, "a disclosure file", kind.Disclosures); wrong != nil {
			return nil, wrong
		}
		return nil, cli.Usage("receipt redact --disclosures and receipt redact disclose write such a file", "%q: %w", path, err)
	}
	return d, nil
}

// maxDisclosureBytes is the maximum size of a disclosure file: the content of a receipt,
// and salts.
const maxDisclosureBytes = 2 * receipt.MaxBytes
