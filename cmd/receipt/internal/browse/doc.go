// Package browse implements the browse command, a local, read-only view of judged receipts.
//
// The view is a directory of static files that works from a server and from disk:
//
//	index.html          the view, with a summary of the run as JSON
//	data/table-N.js     columns of 25,000 receipts, for the list and its filters
//	data/receipts-N.js  reports and contents of 256 receipts
//
// A browser does not let a file read other files, so data files are scripts. Each one calls
// receiptData with its name and its content: JSON, compressed with gzip (RFC 1952), in Base64.
package browse

//go:generate go run -C ../../../../receipt/serve/page/generate . -site ../../../../cmd/receipt/internal/browse
