package receipt

import (
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Pointers are JSON Pointers (RFC 6901) into a receipt, which the receipt itself lists, in the
// order of their bytes.
type Pointers []string

// maxUnreported is how many entries of each list are read. A receipt has no room for as many
// calls, files and hosts as so many pointers would be of, so that only a list of other things
// is longer.
const maxUnreported = 1 << 18

// ReadUnreported returns what the source of a receipt did not tell, as the receipt says
// in metadata.unreported. The format wants some members that not every source knows.
// What stands at a listed pointer is what was told, so a number there is a lower
// bound, and 0, an empty list or a name such as "unknown" means nothing. Absent is not
// zero: whoever shows a receipt says "not told by the source" in its place.
//
// Entries that are not pointers are passed over. A receipt that lists nothing tells
// all that it has members for.
func ReadUnreported(root canon.Node) Pointers { return pointers(root, "unreported") }

// ReadAtMost returns the numbers and lists of a receipt that may hold more than
// happened, as the receipt says in metadata.at_most: such as a total in which the
// source may have counted a call twice. What stands there is an upper bound. A number
// that is unreported as well is what was told, and no bound.
func ReadAtMost(root canon.Node) Pointers { return pointers(root, "at_most") }

// pointers reads a list of metadata.
func pointers(root canon.Node, name string) (list Pointers) {
	for i, n := range root.Member("metadata").Member(name).Elements() {
		if i == maxUnreported {
			break
		}
		if text := n.String(); n.Kind() == canon.KindString && strings.HasPrefix(text, "/") {
			list = append(list, text)
		}
	}

	// Issuers write it sorted; whoever looks things up in it depends on that.
	if !slices.IsSorted(list) {
		slices.Sort(list)
	}
	return list
}

// Has reports whether the member at a pointer, or one that it is part of, is listed.
func (p Pointers) Has(pointer string) bool {
	for end := len(pointer); end > 0; end = strings.LastIndexByte(pointer[:end], '/') {
		if _, listed := slices.BinarySearch(p, pointer[:end]); listed {
			return true
		}
	}
	return false
}
