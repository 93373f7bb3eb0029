// Package bridge makes the protocol's events of the JSON-RPC frames that pass between an
// agent's runtime and its host: over a bridge, in all its dialects, or over ACP.
//
// It is one source of logs beside the events themselves. A [Translator] gives the events
// to a [Taker], a recorder of package record, which judges them as it does all others:
// nothing here decides what a receipt says. One frame becomes no event, one or several;
// kinds.go has the table, which docs/record.md shows. Frames that a receipt tells nothing
// of are counted.
//
// What a permission was answered with is read by one table of outcomes. An answer that
// fits none of its rows is a denial.
//
// This package may still change: it is not of the frozen core.
package bridge
