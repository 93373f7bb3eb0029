// Package page contains the verification page. The recipient of a receipt drops it onto the page and
// reads the result of its verification. The page is one self-contained HTML file that works from a
// server and from disk, and sends no data. Receipts are judged in the browser, by the packages of
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
// names the one script and the one style by their hashes. Foreign text is only ever inserted as
// text.
package page
