package verify

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// overlapOf returns a message if two parts list the same receipt, and otherwise "".
func overlapOf(parts []part) string {
	holder := map[canon.Digest]int{}
	for i, p := range parts {
		for _, d := range p.Listed {
			if first, there := holder[d]; there && first != i {
				return fmt.Sprintf("%q and %q both contain the receipt %s, so it was counted twice: verify the parts together, or split them without overlap",
					cli.SourceName(parts[first].path), cli.SourceName(p.path), d)
			}
			holder[d] = i
		}
	}
	return ""
}
