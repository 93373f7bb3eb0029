// Package event reads logs of the protocol's events, for packages that record or replay them.
//
//	log := event.NewLog(event.Scope{Task: "task_7", Apply: apply, Ended: ended}, event.NewBudget())
//	lines := event.NewLines(file)
//	for {
//		line, err := lines.Next()
//		if err == io.EOF {
//			break
//		}
//		if err == nil {
//			err = log.Add(line) // *event.Error: which event, where, why
//		}
//		…
//	}
//	digest := log.Digest()
//
// # Selection
//
// A [Log] passes each event of one task to a function, once and in sequence order. The [Scope]
// selects the task. Without a selection, the first event that names a task selects it. A
// redelivered event counts once, whether or not it is marked as replayed. An event that is out of
// order or missing, or that has the ID of an event with different contents, ends the reading.
// Events about a compaction or a branch that name no task belong to the task if they name its
// session. They are held until the session is known. No receipt includes receipt.* events.
//
// # Digest
//
// [Log.Digest] returns the digest that a receipt states as its event_log: SHA-256 of the canonical
// forms (RFC 8785) of all events of the task, including unknown kinds, each followed by a line
// feed. The function that applies the events reports which of them come after the end and are not
// covered.
//
// # Members
//
// An [Event] contains the envelope, and has methods that read members of any object in the event.
// The methods keep the first error, so that they can be called in sequence. A null member is
// equivalent to a missing one. A [Budget] counts the memory that is kept, subject to [Limits].
// Errors contain no content of payloads.
package event
