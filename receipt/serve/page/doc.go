// Package page is the verification page: whoever was sent a receipt drops it
// there and reads what is true of it. It is one file of HTML that holds
// everything, works from a server and from disk, and sends nothing anywhere; the
// receipts are judged in the browser, by the packages of this module compiled to
// WebAssembly (cmd/receipt-wasm).
//
// # Building it
//
//	go generate ./receipt/serve/page
//
// writes dist/page.html, and what [Handler] gives out. Neither is committed: a
// command that was built without them says so in place of the page.
//
// # How it is kept shut
//
// A Content Security Policy, in the file and as a header, lets nothing be loaded
// and nothing be sent, and names the one script and the one style by their
// hashes. Foreign text is only ever set as text.
package page
