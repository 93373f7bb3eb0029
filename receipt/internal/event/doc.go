// Package event reads logs of the protocol's events: the one reading of them, for whoever
// makes a draft of a log and whoever replays it.
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
// # Which events
//
// A [Log] gives each event of one task to a function, once, in the order of its sequence.
// The first event that names a task decides which, unless the [Scope] does. An event that
// is delivered again, marked as replayed or not, counts once. One that is out of order or
// missing, or that another content has under the same id, ends the reading. Events of a
// compaction or a branch that name no task are the task's when they name its session, and
// wait until that is known. Of receipt.* events no receipt tells.
//
// # The digest
//
// [Log.Digest] is what a receipt names as its event_log: SHA-256 over the canonical form
// (RFC 8785) of each event of the task, unknown kinds included, a line feed after each.
// Whoever applies the events says which come after the end, and are not in it.
//
// # Reading an event
//
// An [Event] has the envelope, and methods that read members of any object in it. They keep
// the first error, so that they can be called in a row; null is the same as absent. What is
// kept of a log is counted in a [Budget], with the limits of [Limits]. Errors hold no
// content of payloads.
//
// This package may still change: it is not of the frozen core.
package event
