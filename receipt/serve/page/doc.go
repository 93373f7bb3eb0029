// Package page contains the verification page. The recipient of a receipt drops it onto the page
// and reads the result of the verification. The page is a single self-contained HTML file. It works
// from a server and from disk, and sends no data. Receipts are verified in the browser by the
// packages of this module, compiled to WebAssembly (cmd/receipt-wasm).
//
// # Building it
//
//	go generate ./receipt/serve/page
//
// writes dist/page.html and the files that [Handler] serves. These files are not committed; a
// command that was built without them shows a notice instead of the page.
//
// # Isolation
//
// A Content Security Policy, both in the file and as a header, prevents all loading and sending of
// data, and identifies the only script and the only style by their hashes. Untrusted text is only
// ever inserted as text, never as markup.
package page
