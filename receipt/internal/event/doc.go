// Package event reads event logs of the protocol, for packages that record or replay events.
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
// A [Log] passes each event of one task to a function, only once and in sequence order. The [Scope]
// selects the task. If the scope selects no task, the log uses the first task that an event names.
// A redelivered event is counted once, regardless of whether it is marked as replayed. Reading ends
// with an error if an event is out of order, if an event is missing, or if two events have the same
// ID but different contents. If an event about a compaction or a branch names no task, it belongs
// to the task whose session it names. Such an event is held until the session is known. No receipt
// covers receipt.* events.
//
// # Digest
//
// [Log.Digest] returns the digest that a receipt states as its event_log. It is the SHA-256 of the
// canonical forms (RFC 8785) of all events of the task, including events of unknown kinds, each
// followed by a line feed. The function that applies an event reports whether the digest covers the
// event; events after the end are not covered.
//
// # Members
//
// An [Event] contains the envelope, and has methods that read the members of any object in the
// event. These methods keep the first error, so that they can be called one after another. A null
// member is treated as a missing member. A [Budget] counts the memory that is kept, and [Limits]
// bound it. Errors never contain the content of payloads.
package event
