// Package bridge is an example of how an agent's runtime and its host talk over a bridge:
// JSON-RPC 2.0, a message a line, over the standard input and output of one of them. What
// passed is a log from which a receipt is recorded.
//
// A [Peer] is either end. It asks, answers and notifies; every message goes into the log
// before anything is done about it, in the order in which they passed. What no message is
// (a line that is no JSON, or too long, or what only the other side may say) is refused,
// counted, and in no log: nobody acted on it.
//
// What the messages mean is in functions without a clock or a connection, so that each can
// be read, and tried, alone:
//
//	idle.go         how long a daemon waits, and what wakes it
//	inbox.go        what users say while a runtime works, in three modes
//	search.go       which tools the host finds for a query
//	tools.go        which tools the host has
//	skills.go       which skills it has
//	match.go        which of them fit, by the host or, when it cannot say, by rank.go
//	permission.go   whether a call may be made: not, unless the host clearly says so
//
// Three dialects are read. Members of the runtime's own are looked for under _meta.harn,
// where the newest has them, then beside the standard ones.
package bridge
