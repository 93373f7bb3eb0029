package main

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// overlapOf says that two parts list the same receipt; "" when none do.
func overlapOf(parts []part) string {
	holder := map[canon.Digest]int{}
	for i, p := range parts {
		for _, d := range p.receipts {
			if first, there := holder[d]; there && first != i {
				return fmt.Sprintf("%q and %q both hold the receipt %s, so it was counted twice: verify the parts together, or cut them without overlap",
					sourceName(parts[first].path), sourceName(p.path), d)
			}
			holder[d] = i
		}
	}
	return ""
}
