// Package e2e tests the verification page in a real browser, from a server and from disk: what a
// person drops, reads, and clicks, that no data leaves the page, and that it can be used without a
// mouse and with a screen reader.
//
// It is a separate module, so that importers of the library do not download the code that drives a
// browser. The browser is chromium, or $CHROMIUM. If $AXE names the file axe.min.js of axe-core,
// axe-core checks the accessibility. Screenshots are written to the directory $SCREENSHOTS.
//
// To measure the view of receipt browse, run RECEIPTS=100000 go test -run TestBrowseSpeed -v.
package e2e
