package aggregate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// untold counts receipts whose values are unreported or incomplete, so that the sums are lower
// bounds.
type untold struct {
	Cost      int `json:"cost"`
	Files     int `json:"files"`
	Egress    int `json:"egress"` // including those with an entry without bytes
	ToolCalls int `json:"tool_calls"`
	Handoffs  int `json:"handoffs"`
	Approvals int `json:"approvals"`
}

func (u *untold) add(s statement) {
	list := s.untold
	for pointer, n := range map[string]*int{
		"/side_effects/fs_writes":    &u.Files,
		"/side_effects/tool_calls":   &u.ToolCalls,
		"/side_effects/a2a_handoffs": &u.Handoffs,
	} {
		if list.Has(pointer) {
			*n++
		}
	}

	if list.Has("/cost/total") || list.Has("/cost/currency") {
		u.Cost++
	}

	if list.Has("/approvals") || slices.ContainsFunc(list, func(at string) bool {
		return strings.HasPrefix(at, "/approvals/") && strings.HasSuffix(at, "/decision")
	}) {
		u.Approvals++
	}

	// The sum of bytes is also a lower bound if an entry does not state its number of bytes, or if
	// it is unknown whether an entry was sent.
	if list.Has("/side_effects/network_egress") || !bytesStated(s.Node) || slices.ContainsFunc(list, func(at string) bool { return strings.HasPrefix(at, "/side_effects/network_egress/") }) {
		u.Egress++
	}
}

// plus adds v, multiplied by n, to the counts.
func (u *untold) plus(v *untold, n int) {
	u.Cost += n * v.Cost
	u.Files += n * v.Files
	u.Egress += n * v.Egress
	u.ToolCalls += n * v.ToolCalls
	u.Handoffs += n * v.Handoffs
	u.Approvals += n * v.Approvals
}

// A statement is the root of a receipt, with pointers to two kinds of values: values that the
// receipt's source did not report, and values that may be too high.
type statement struct {
	canon.Node
	untold, over receipt.Pointers
}

// silent reports whether the source did not report a part of a list entry. If part is "", it
// reports whether the effect that the entry describes may not have happened. If only the list is
// incomplete, its entries are still reported.
func (s statement) silent(list string, i int, part string) bool {
	return lists(s.untold, list, i, part)
}

// tooMuch reports whether a part of a list entry may be too high.
func (s statement) tooMuch(list string, i int, part string) bool {
	return lists(s.over, list, i, part)
}

func lists(pointers receipt.Pointers, list string, i int, part string) bool {
	if len(pointers) == 0 {
		return false
	}
	_, listed := slices.BinarySearch(pointers, list+"/"+strconv.Itoa(i)+part)
	return listed
}

// reckoned reports whether the cost, or the cost of a model, is an estimate by the source and not a
// bill (metadata.estimated).
func (s statement) reckoned() bool {
	for _, n := range s.Member("metadata").Member("estimated").Elements() {
		if at := n.String(); at == "/cost" || strings.HasPrefix(at, "/cost/") {
			return true
		}
	}
	return false
}

// bytesStated reports whether each network request states the number of bytes sent.
func bytesStated(root canon.Node) bool {
	for _, e := range root.Member("side_effects").Member("network_egress").Elements() {
		if e.Member("bytes_sent").Kind() != canon.KindNumber {
			return false
		}
	}
	return true
}
