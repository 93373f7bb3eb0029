// Package bridge converts JSON-RPC frames to protocol events. An agent's runtime and its host
// exchange these frames over a bridge, in any of its dialects, or over ACP.
//
// A [Translator] passes the events to a [Taker]: a recorder of package record, which treats them
// like all other events. This package does not decide what a receipt contains. Each frame becomes
// zero or more events, as listed in the table in kinds.go. docs/record.md includes this table.
// Frames that do not affect a receipt are counted.
//
// One table of outcomes determines whether an answer approves a permission request. An answer that
// matches no row of the table is a denial.
//
// This package may still change, because it is not part of the frozen core.
package bridge
