// Package page contains the verification page: the recipient of a receipt drops it there and reads
// what is verified about it. It is one self-contained file of HTML that works from a server and
// from disk, and sends nothing anywhere. Receipts are judged in the browser, by the packages of
// this module compiled to WebAssembly (cmd/receipt-wasm).
//
// # Building it
//
//	go generate ./receipt/serve/page
//
// writes dist/page.html and the files that [Handler] serves. Neither is committed: a command that
// was built without them shows a notice in place of the page.
//
// # Isolation
//
// A Content Security Policy, in the file and as a header, prevents all loading and sending, and
// names the one script and the one style by their hashes. Foreign text is only ever set as text.
package page
