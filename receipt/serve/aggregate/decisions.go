package aggregate

// decisions counts approvals by how they were decided: a request that was denied,
// or that nobody answered, is not an approval. One of which the source did not tell the
// decision is in none of them.
type decisions struct {
	Approved int `json:"approved"`
	Denied   int `json:"denied"`
	Canceled int `json:"canceled"`
	Timeout  int `json:"timeout"`
}

func (d *decisions) add(s statement) {
	for i, n := range s.Member("approvals").Elements() {
		if s.silent("/approvals", i, "/decision") {
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

// plus adds e n times.
func (d *decisions) plus(e *decisions, n int) {
	d.Approved += n * e.Approved
	d.Denied += n * e.Denied
	d.Canceled += n * e.Canceled
	d.Timeout += n * e.Timeout
}
