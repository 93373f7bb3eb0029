// Package harness implements a harness for the Harn Agents Protocol v1. The harness accepts tasks,
// runs an agent on them, and issues a receipt for each task. It serves as an example, and is used
// in tests of programs that use the protocol.
//
//	h, err := harness.Open(harness.Options{Dir: dir, Issuer: "my_harness", Signer: signer, Trust: set})
//	http.ListenAndServe(address, h.Handler())
//
// # One log
//
// Every event is recorded in a single file, DIR/events.jsonl (package journal). A request is
// answered after its effects have been written to disk. Sessions, messages, tasks, artifacts,
// outcomes, and workspaces are computed from the events, and the receipts in DIR/ledger.db are
// derived from them. After a crash, the next process continues where the log ends. Tasks continue
// with the answers that they already received, missing receipts are issued, and a repeated request
// gets the same response.
//
// # One supply
//
// A [Module] does the work of a task. The module gets all external data from its [Supply]: the
// answers from a model and from tools, including the clock. While a task runs for the first time,
// the supply requests these answers and records them in the log. After a crash and in a replay, the
// answers are read from the log.
//
// # Parts elsewhere
//
// Package protocol implements versions, keys, errors, lists, idempotency, and streams, and package
// journal implements the log. Package record creates the draft of a receipt, package ledger issues
// the receipt, and package serve serves it.
package harness
