// Package bridge creates the protocol's events from JSON-RPC frames that an agent's runtime and its
// host exchange over a bridge, in any of its dialects, or over ACP.
//
// A [Translator] passes the events to a [Taker], which is a recorder of package record and treats
// them like all other events. This package does not decide what a receipt contains. A frame becomes
// zero or more events; the table in kinds.go, which docs/record.md includes, lists them. Frames
// that do not affect a receipt are counted.
//
// A single table of outcomes determines whether an answer approves a permission request. An answer
// that matches no row is a denial.
//
// This package may still change, because it is not part of the frozen core.
package bridge
