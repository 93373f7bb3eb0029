// Package core is what the verification page runs: the verification of package
// stream over files that somebody dropped, with nothing of a browser in it.
//
// [Recognize] tells what a file is. A [Request] names the receipts, the key sets, the
// evidence and what is asked for. [Verify]
// runs it and hands out what the page shows:
//
//	keys       {"path", "sha256", "count", "keys": [{"id", "fingerprint", …}]}
//	reports    a report a line, each as receipt verify --format ndjson writes it
//	summary    the summary of the last line, and what the receipts leave unchecked together
//	aggregate  sums over time, of package aggregate
//
// [Fitting] tells which proofs are of a receipt. [Open] reads one receipt again and returns the bytes that its hash covers, and
// [Tamper] changes one byte of it, to show that this does not go unnoticed.
package core
