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
// A [Log] passes each event of one task to a function, once, in the order of its sequence. The
// [Scope] selects the task, or else the first event that names one. An event that is delivered
// again counts once, whether it is marked as replayed or not. An event that is out of order or
// missing, or that has the same ID as one with different contents, ends the reading. Events about a
// compaction or a branch that name no task belong to the task if they name its session; they wait
// until the session is known. Events receipt.* are in no receipt.
//
// # Digest
//
// [Log.Digest] returns the digest that a receipt names as its event_log: SHA-256 over the canonical
// form (RFC 8785) of each event of the task, including unknown kinds, each followed by a line feed.
// The function that applies the events reports which of them are after the end, and not covered.
//
// # Members
//
// An [Event] contains the envelope, and has methods that read members of any object in it. They
// keep the first error, so that they can be called in a row. A null member is equivalent to a
// missing one. A [Budget] counts the memory that is kept, subject to [Limits]. Errors contain no
// content of payloads.
package event
