// Package turn creates the protocol's events for one turn of a chat: a message is sent, messages
// are added, the turn is suspended, a signal resumes it, and it completes or fails.
//
// A [Translator] passes the events to a recorder of package record, which treats them like all
// other events. docs/record.md contains the table. An event that no part of a turn covers, such as
// a model call and its cost, is recorded with [Translator.Event].
//
// # Messages
//
// A message is a JSON object with role, content, tool_calls, and tool_call_id. [Check] verifies
// that a message has the shape of its role. The events contain digests of messages, and the
// arguments and results of tool calls.
//
//	{"role": "user", "content": "Send the email to Bob."}
//	{"role": "assistant", "content": [], "tool_calls": [{"id": "call_1", "name": "mail.send", "arguments": {"to": "bob"}}]}
//	{"role": "tool", "tool_call_id": "call_1", "content": "sent"}
//	{"role": "assistant", "content": [{"type": "text", "text": "Email sent."}]}
//
// # Suspended turns
//
// A suspended turn waits for one signal, and the first signal with its ID decides. Every later one
// is a [SignalError] and changes nothing. Until the signal arrives, the task has not ended, so
// there is no receipt. The events contain the entire state of a Translator: [Translator.Take]
// applies a stored log, in the same process or another, and the turn continues where the log ends.
//
// # Rules
//
// A suspended turn has no receipt until it has ended; its time includes the wait. The first signal
// with the ID decides, and a later one is refused. If a turn waits for the same signal again, it is
// a new question, with the approval ID#2. The harness determines who sent a signal, and the payload
// does not. A payload without a decision is not an approval, and /approvals/N/decision is
// unreported. Programs that act on a signal must use Signal.Decision, because another parser may
// find a different decision in the same bytes. A turn that failed before the graph was entered
// never started, so /lifecycle/started_at is unreported. A message without a session is not part of
// a turn, and has no receipt.
//
// Digests of messages are the SHA-256 of their RFC 8785 form. If a message is not strict JSON, its
// message_sha256 is the digest of its bytes. content_sha256 is the digest of the content, so a
// string and a single text block are equivalent. No event contains a diagnostic, because it may
// contain secrets.
//
// After a crash, record.ResumeTurn continues from the events that Options.Keep received, with the
// same draft, byte for byte; a part of which only some events were kept is done again without
// asking or adding anything twice. harness/cmd/chat is an example, which runs one turn of a session
// at a time.
//
// # Failures
//
// A failed turn has one of three buckets, which [BucketOf] returns for a category.
//
// This package may still change: it is not part of the frozen core.
package turn
