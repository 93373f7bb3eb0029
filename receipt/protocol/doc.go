// Package protocol is what every harness of the Harn Agents Protocol v1 needs over HTTP and
// should not have to write: the version of the protocol, API keys with scopes, the envelope
// of errors, lists and their cursors, and requests that are done once.
//
//   - [CheckVersion], [NewDiscovery]: which version is spoken.
//   - [APIKeys], [Scope], [Reach]: who may do what, with which resources.
//   - [Error], [Code]: why not, in the protocol's envelope.
//   - [Query], [FormatCursor], [ParseCursor]: lists, page by page.
//   - [Memory], [OnceOf]: what was answered to an Idempotency-Key.
//   - [Intake], [ContentType], [CheckForm]: what of a request is taken.
//
// Clocks and randomness are given. Nothing here keeps more than it is told to: a Memory has
// [MemoryLimits], packages conn and fair bound what a client can make others wait for. No
// error repeats a key, a body or what a server failed at.
//
// The exported names may still change.
package protocol
