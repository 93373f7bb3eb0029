package aggregate

import "github.com/receiptkit/receiptkit/canon"

// decisions counts approvals by how they were decided: a request that was denied,
// or that nobody answered, is not an approval. One of which the source did not tell the
// decision is in none of them.
type decisions struct {
	Approved int `json:"approved"`
	Denied   int `json:"denied"`
	Canceled int `json:"canceled"`
	Timeout  int `json:"timeout"`
}

func (d *decisions) add(approvals canon.Node, s silence) {
	for i, n := range approvals.Elements() {
		if s.of("/approvals", i, "/decision") {
			continue
		}
		switch n.Member("decision").String() {
		case "approved":
			d.Approved++
		case "denied":
			d.Denied++
		case "canceled":
			d.Canceled++
		case "timeout":
			d.Timeout++
		}
	}
}

func (d *decisions) plus(e *decisions) {
	d.Approved += e.Approved
	d.Denied += e.Denied
	d.Canceled += e.Canceled
	d.Timeout += e.Timeout
}
