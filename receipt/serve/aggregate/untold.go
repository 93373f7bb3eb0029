package aggregate

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// untold counts receipts of which the source did not tell a part, or not the
// whole of it: their sums are lower bounds.
type untold struct {
	Cost      int `json:"cost"`
	Files     int `json:"files"`
	Egress    int `json:"egress"` // also those with an entry that states no bytes
	ToolCalls int `json:"tool_calls"`
	Handoffs  int `json:"handoffs"`
	Approvals int `json:"approvals"`
}

func (u *untold) add(root canon.Node) {
	list := receipt.ReadUnreported(root)
	for pointer, n := range map[string]*int{
		"/cost/total":                &u.Cost,
		"/side_effects/fs_writes":    &u.Files,
		"/side_effects/tool_calls":   &u.ToolCalls,
		"/side_effects/a2a_handoffs": &u.Handoffs,
		"/approvals":                 &u.Approvals,
	} {
		if list.Has(pointer) {
			*n++
		}
	}

	// An entry that states no bytes makes the sum of bytes a lower bound as well.
	if list.Has("/side_effects/network_egress") || !bytesStated(root) {
		u.Egress++
	}
}

// bytesStated reports whether each entry of the egress states its bytes.
func bytesStated(root canon.Node) bool {
	for _, e := range root.Member("side_effects").Member("network_egress").Elements() {
		if e.Member("bytes_sent").Kind() != canon.KindNumber {
			return false
		}
	}
	return true
}
