// Package e2e tests the verification page in a real browser, from a server and from disk. It tests
// what people drop, read, and click. It also verifies that no data leaves the page, and that the
// page can be used without a mouse and with a screen reader.
//
// This package is a separate module, so that importers of the library do not download the code that
// drives a browser. The browser is chromium, or the program named by $CHROMIUM. If $AXE contains
// the path of axe.min.js from axe-core, accessibility is also checked. Screenshots are written to
// the directory named by $SCREENSHOTS.
//
// To measure the view of "receipt browse", run "RECEIPTS=100000 go test -run TestBrowseSpeed -v".
package e2e
