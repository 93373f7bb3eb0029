// Package harness is a harness of the Harn Agents Protocol v1. It accepts tasks, runs an agent on
// them, and issues a receipt for each. It serves as an example, and for tests of programs that
// use the protocol.
//
//	h, err := harness.Open(harness.Options{Dir: dir, Issuer: "my_harness", Signer: signer, Trust: set})
//	http.ListenAndServe(address, h.Handler())
//
// # One log
//
// Everything that happens is recorded in one file, DIR/events.jsonl (package journal). The response
// to a request is sent when its effects are on disk. Sessions, messages, tasks, artifacts,
// outcomes, and workspaces are computed from the events, and the receipts in DIR/ledger.db are
// derived from them. After a crash, the next process continues where the log ends: tasks continue
// with the answers that they had, missing receipts are issued, and a repeated request gets the same
// response.
//
// # One supply
//
// A [Module] does the work of a task. It gets all external data from its [Supply]: answers from a
// model and from tools, including the clock. Live, the supply requests these answers and records
// them in the log. After a crash and in a replay, the answers come from the log.
//
// # Parts elsewhere
//
// Package protocol implements versions, keys, errors, lists, idempotency, and streams, and
// package journal the log. Package record creates the draft of a receipt, package ledger issues
// the receipt, and package serve serves it.
package harness
