package print

import (
	"fmt"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// Unread states how many records of a log were not read, and of how many types.
func Unread(records, types int) string {
	verb := "were"
	if records == 1 {
		verb = "was"
	}
	return fmt.Sprintf("%s of %s %s not read", cli.Plural(records, "record", ""), cli.Plural(types, "unknown type", ""), verb)
}
