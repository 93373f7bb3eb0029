package receipt

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Unreported lists what the source of a receipt did not tell, as the receipt says
// in metadata.unreported: JSON Pointers (RFC 6901) into the receipt. The format
// wants some members that not every source knows. What stands at a listed pointer
// is what was told, so a number there is a lower bound, and 0, an empty list or a
// name such as "unknown" means nothing. Absent is not zero: who shows a receipt
// says "not told by the source" in its place.
type Unreported []string

// MaxUnreported is how many pointers are read.
const MaxUnreported = 1000

// ReadUnreported returns what the receipt lists; entries that are no pointers are
// passed over. A receipt that lists nothing tells all that it has members for.
func ReadUnreported(root canon.Node) (list Unreported) {
	for i, n := range root.Member("metadata").Member("unreported").Elements() {
		if i == MaxUnreported {
			break
		}
		if text := n.String(); n.Kind() == canon.KindString && strings.HasPrefix(text, "/") {
			list = append(list, text)
		}
	}
	return list
}

// Has reports whether the member at a pointer, or one that it is part of, was not
// told.
func (u Unreported) Has(pointer string) bool {
	for _, listed := range u {
		if rest, within := strings.CutPrefix(pointer, listed); within && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}
