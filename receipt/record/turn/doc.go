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
// # Failures
//
// A failed turn has one of three buckets, which [BucketOf] returns for a category.
//
// This package may still change: it is not part of the frozen core.
package turn
