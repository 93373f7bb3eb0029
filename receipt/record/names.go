package record

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Names are the identifiers of the draft, as events tell them.
type names struct {
	receipt.Identifiers
	twice map[string]bool // places of the draft of which two names were told
}

// identify notes a name of the draft. Of two, the first is kept, and the other listed.
func (n *names) identify(at string, have *string, name string) {
	if named(have, name) {
		if n.twice == nil {
			n.twice = map[string]bool{}
		}
		n.twice[at] = true
	}
}

// envelope takes the names that the envelope of an event has.
func (n *names) envelope(e *event.Event) {
	n.identify("/identifiers/workspace_ref", &n.WorkspaceRef, e.Text(e.Root, "workspace_id"))
	first(&n.TraceID, e.Text(e.Root, "trace_id"))
}
func branchCreated(r *run, e *event.Event) {
	first(&r.ids.BranchID, e.Text(e.Payload, "branch_id"))
	if e.Resource.Object == "branch" {
		first(&r.ids.BranchID, e.Resource.ID)
	}
}

// triggered notes the connector that brought the task.
func triggered(r *run, e *event.Event) {
	connector, delivery := e.Text(e.Payload, "connector_id"), e.Text(e.Payload, "delivery_id")
	if r.trigger != nil || connector == "" {
		return
	}
	r.trigger = receipt.Object{"connector_id": connector}
	if delivery != "" {
		r.trigger["delivery_id"] = delivery
	}
}
