// Package e2e tests the verification page in a real browser, from a server and
// from disk: what a person drops, reads and clicks, that nothing leaves the page,
// and that it can be used without a mouse and without seeing.
//
// It is a separate module, so that nobody who imports this one downloads what
// drives a browser. The browser is chromium, or $CHROMIUM; axe-core judges the
// accessibility when $AXE names its axe.min.js. $SCREENSHOTS is a folder to keep
// pictures in.
//
// To measure the view of receipt browse, run RECEIPTS=100000 go test -run TestBrowseSpeed -v.
package e2e
