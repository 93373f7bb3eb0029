package record

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

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
