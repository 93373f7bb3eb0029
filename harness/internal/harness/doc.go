// Package harness is a harness of the Harn Agents Protocol v1: it takes tasks, has an agent
// work on them, and gives a receipt for each. It is for reading, and for tests of programs that
// speak the protocol.
//
//	h, err := harness.Open(harness.Options{Dir: dir, Issuer: "my_harness", Signer: signer, Trust: set})
//	http.ListenAndServe(address, h.Handler())
//
// # One log
//
// All that happens is in one file, DIR/events.jsonl (package journal): a request is answered
// when what it did is on the disk. Sessions, messages, tasks, artifacts, outcomes and workspaces
// are folded from its events, and the receipts in DIR/ledger.db are made of them. So after any
// crash the next program goes on where the log ends: tasks go on with the answers that they had,
// receipts that were not issued are issued, and a request that comes again is answered the same.
//
// # One supply
//
// A [Module] does the work of a task. What it gets from outside, it gets from its [Supply]: answers
// of a model and of tools, and the clock is a tool too. Live, these are asked for and told to
// the log; after a crash, and in a replay, the log answers.
//
// # What is not here
//
// Versions, keys, errors, lists, idempotency and streams are those of package protocol; its
// package journal has the log. What a task did, package record makes a draft of; package ledger
// issues it, and package serve gives it out.
package harness
