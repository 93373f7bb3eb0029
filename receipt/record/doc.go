// Package record creates the draft of a receipt from the events of a task.
//
//	rec, err := record.New(record.Options{Issuer: receipt.Issuer{ID: "my_harness"}})
//	for event := range events { // of one task, in order, each a JSON object
//		if err := rec.Add(event); err != nil {
//			return err // *record.Error: which event, where, why
//		}
//	}
//	draft, err := rec.Draft() // *receipt.Draft, to redact, seal, and sign
//
// # Inputs
//
// A [Recorder] accepts the protocol's events. docs/record.md lists the effect of each kind on the
// draft. [Frames] accepts the JSON-RPC frames of a bridge or of ACP, and converts them to events
// for a Recorder, so that the events and the frames of a run produce the same draft, byte for byte.
// The frames do not contain everything that a receipt states, so [Frames.Event] also accepts events
// from other sources. [Read] reads a file of events or frames. A [Turn] accepts the parts of one
// turn of a chat, and converts them to events.
//
// # Events
//
// A Recorder accepts a task's events in sequence order. A redelivered event is counted once. The
// recording ends with an [Error] and without a draft in three cases: an event is missing or out of
// order, two events have the same ID but different contents, or an event after the end would change
// the receipt. Therefore, a receipt never silently omits a rejected event. Unknown members are
// ignored, as the protocol requires, and counted. Events of unknown kinds are counted as well. If
// there are any, the lists and counts in the draft are lower bounds. If Options.TaskID is set,
// events of other tasks are skipped and counted; otherwise, they are an error.
//
// The draft contains the digest of the log: the SHA-256 of the canonical forms (RFC 8785) of the
// task's events, each followed by a line feed. The digest covers events of unknown kinds. It does
// not cover receipt.* events or events after the end. For a canonical log of one task, this shell
// command computes the digest:
//
//	sha256sum events.jsonl
//
// # Derived values
//
// The same events and options produce the same bytes, because the draft does not depend on a clock,
// on random numbers, or on the order of a map. Lists are in the order of the events, and deltas are
// sorted by override key. Money is added as decimals, not as floating-point numbers. Digests of
// JSON values are the SHA-256 of their RFC 8785 form. A draft contains values only from named
// members of payloads. Hidden reasoning is not among these members. It is also removed from a
// task's failure, which is the only open object that is copied.
//
// An answer to a permission request counts as an approval only if it is recognized as an approval.
// An unknown, ambiguous, or contradictory answer counts as a denial. If there are too few
// reviewers, or an answer arrives after the deadline, the request is not approved.
//
// # Claims
//
// A draft states only what events record. Records of the same fact are combined, and all
// conflicting records are listed. Values that the schema requires but the source does not report
// are listed in metadata.unreported, as JSON Pointers into the draft. An executed call is listed
// with the arguments with which it was executed, regardless of later events. Events that a replay
// repeats are not listed as the replay's own actions. docs/record.md contains all rules.
//
// # Secrets
//
// Names, paths, reasons, and messages of the task are copied unchanged. To remove secrets in them,
// apply a redact.Policy to the draft before it is sealed.
//
// # Turns of a chat
//
// A [Turn] creates events when a message is sent, when messages are added, when the turn begins, is
// suspended, or is resumed by a signal, and when it completes or fails. Everything else, such as a
// model call and its cost, is recorded with [Turn.Event]. docs/record.md contains the table.
//
// A message is a JSON object with role, content, tool_calls, and tool_call_id. [CheckMessage]
// verifies that a message has the structure that its role requires. The events contain the
// arguments and results of tool calls, but only the digests of messages.
//
//	{"role": "user", "content": "Send the email to Bob."}
//	{"role": "assistant", "content": [], "tool_calls": [{"id": "call_1", "name": "mail.send", "arguments": {"to": "bob"}}]}
//	{"role": "tool", "tool_call_id": "call_1", "content": "sent"}
//	{"role": "assistant", "content": [{"type": "text", "text": "Email sent."}]}
//
// A suspended turn waits for one signal. Any other signal is rejected with a [SignalError], and
// changes nothing.
//
// A suspended turn has no receipt until it has ended. The duration of the turn includes the wait
// for the signal. The first signal with the expected ID decides. If a turn waits for the same
// signal again, the second wait is a new question, and "#2" is appended to its approval ID. The
// harness, not the payload, determines the sender of a signal. A payload without a decision is not
// an approval, and /approvals/N/decision is unreported. Programs that act on a signal must use
// [Signal.Decision], because another parser may find a different decision in the same bytes. If a
// turn failed before it entered the graph, it never started, so /lifecycle/started_at is
// unreported. A message without a session is not part of a turn, and has no receipt.
//
// Digests of messages are the SHA-256 of their RFC 8785 form. If a message is not strict JSON, its
// message_sha256 is the digest of its bytes. content_sha256 is the digest of the content; a string
// and a single text block with the same text have the same digest. No event contains a diagnostic,
// because diagnostics may contain secrets.
//
// After a crash, [ResumeTurn] continues from the events that Options.Keep received, and produces
// the same draft, byte for byte. If only some events of a part were kept, the part is processed
// again, but nothing is requested or added twice. The command harness/cmd/chat is an example that
// runs one turn of a session at a time.
//
// # Stability
//
// This package may still change, because it is not part of the frozen core. Its output is a draft
// in a frozen format.
package record
