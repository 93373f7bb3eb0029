package stated

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// Tasks returns the tasks that a receipt is of: its subject, and the one that its
// identifiers name.
func Tasks(root canon.Node) (tasks []string) {
	subject := root.Member("subject")
	if id := subject.Member("id").String(); id != "" && subject.Member("object").String() == "task" {
		tasks = append(tasks, id)
	}
	if id := root.Member("identifiers").Member("task_id").String(); id != "" && !slices.Contains(tasks, id) {
		tasks = append(tasks, id)
	}
	return tasks
}

// Tells reports whether a receipt tells that it is of a task. Where its source named none, a
// name such as "unknown" stands for it (metadata.unreported): receipts with that have no task
// in common.
func Tells(root canon.Node, task string) bool {
	untold, subject := receipt.ReadUnreported(root), root.Member("subject")
	if subject.Member("object").String() == "task" && subject.Member("id").String() == task && !untold.Has("/subject/id") && !untold.Has("/subject/object") {
		return true
	}
	return root.Member("identifiers").Member("task_id").String() == task && !untold.Has("/identifiers/task_id")
}
