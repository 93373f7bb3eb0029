// Package turn makes the protocol's events of what happens in one turn of a chat: a
// message is sent, messages are added, the turn is suspended, a signal comes, it goes on,
// it is completed or fails.
//
// It is one source of logs beside the events themselves and the frames of a bridge. A
// [Translator] gives the events to a recorder of package record, which judges
// them as it does all others: nothing here decides what a receipt says. docs/record.md has
// the table. What no part of a turn tells, such as that a model was called and what it
// cost, is given as an event beside it.
//
// # Messages
//
// A message is a JSON object with role, content, tool_calls and tool_call_id; [Check] says
// whether one has the shape of its role. Messages are in the events by digests alone, and
// calls of tools with what they were given and returned.
//
//	{"role": "user", "content": "Send the email to Bob."}
//	{"role": "assistant", "content": [], "tool_calls": [{"id": "call_1", "name": "mail.send", "arguments": {"to": "bob"}}]}
//	{"role": "tool", "tool_call_id": "call_1", "content": "sent"}
//	{"role": "assistant", "content": [{"type": "text", "text": "Email sent."}]}
//
// # Suspended turns
//
// A turn that is suspended waits for one signal, and the first signal of that id decides:
// every later one is a [SignalError], and changes nothing. Until then the task has not
// ended, so that there is no receipt. What a Translator knows of a turn it knows from the
// events alone: [Translator.Take] gives it those that were kept, in another process too,
// and it goes on where they end.
//
// # Failures
//
// A turn that fails does so in one of three buckets, which [BucketOf] finds for a category.
//
// This package may still change: it is not of the frozen core.
package turn
