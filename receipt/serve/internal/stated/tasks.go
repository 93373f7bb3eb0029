package stated

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
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
