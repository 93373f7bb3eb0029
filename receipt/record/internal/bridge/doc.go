// Package bridge creates the protocol's events from the JSON-RPC frames between an agent's runtime
// and its host, over a bridge, in all its dialects, or over ACP.
//
// A [Translator] passes the events to a [Taker], a recorder of package record, which treats them
// like all other events. This package does not decide the contents of a receipt. A frame becomes
// zero or more events; the table in kinds.go, which docs/record.md shows, lists them. Frames
// without an effect on a receipt are counted.
//
// A single table of outcomes determines whether an answer approves a permission request. An answer
// that matches no row is a denial.
//
// This package may still change: it is not part of the frozen core.
package bridge
