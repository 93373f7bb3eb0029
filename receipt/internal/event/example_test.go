package event_test

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// The example extracts the events of one task from a log with several tasks, and computes the
// digest that a receipt states for them.
func ExampleLog() {
	const text = `{"id":"1","event":"task.started","resource":{"object":"task","id":"task_7"},"created_at":"2026-04-25T19:16:10Z","sequence":1,"payload":{}}
{"id":"2","event":"task.started","resource":{"object":"task","id":"task_8"},"created_at":"2026-04-25T19:16:11Z","sequence":1,"payload":{}}
{"id":"3","event":"tool.requested","resource":{"object":"task","id":"task_7"},"created_at":"2026-04-25T19:16:12Z","sequence":2,"payload":{"tool_call_id":"call_1","name":"garden.water"}}
{"id":"3","event":"tool.requested","resource":{"object":"task","id":"task_7"},"created_at":"2026-04-25T19:16:12Z","sequence":2,"payload":{"tool_call_id":"call_1","name":"garden.water"}}
{"id":"4","event":"task.completed","resource":{"object":"task","id":"task_7"},"created_at":"2026-04-25T19:16:13Z","sequence":3,"payload":{}}
`
	ended := false
	var kept strings.Builder
	log := event.NewLog(event.Scope{
		Task: "task_7",
		Apply: func(e *event.Event) (covered bool, err *event.Error) {
			fmt.Println(e.Sequence, e.Kind)
			covered, ended = !ended, ended || e.Kind == "task.completed"
			return covered, e.Err
		},
		Ended: func() bool { return ended },
		Keep:  func(line []byte) error { kept.Write(line); return nil },
	}, event.NewBudget())

	for line := range strings.Lines(text) {
		if err := log.Add([]byte(line)); err != nil {
			fmt.Println(err)
			return
		}
	}

	c := log.Counts()
	fmt.Println(c.Events, "events,", c.Repeated, "came again,", c.OtherTasks, "of other tasks")
	fmt.Println(log.Digest() == canon.Sum([]byte(kept.String())))
	// Output:
	// 1 task.started
	// 2 tool.requested
	// 3 task.completed
	// 3 events, 1 came again, 1 of other tasks
	// true
}
