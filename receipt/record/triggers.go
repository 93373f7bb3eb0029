package record

import "github.com/receiptkit/receiptkit/receipt"

func branchCreated(r *run, e *event) {
	first(&r.ids.BranchID, e.text(e.payload, "branch_id"))
	if e.resource.object == "branch" {
		first(&r.ids.BranchID, e.resource.id)
	}
}

// triggered notes the connector that brought the task.
func triggered(r *run, e *event) {
	connector, delivery := e.text(e.payload, "connector_id"), e.text(e.payload, "delivery_id")
	if r.trigger != nil || connector == "" {
		return
	}
	r.trigger = receipt.Object{"connector_id": connector}
	if delivery != "" {
		r.trigger["delivery_id"] = delivery
	}
}
