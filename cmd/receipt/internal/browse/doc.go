// Package browse implements the browse command, which provides a local, read-only view of receipts
// and their verdicts.
//
// The view is a directory of static files that works from a server and from disk:
//
//	index.html          the view, with a summary of the run as JSON
//	data/table-N.js     columns of 25,000 receipts, for the list and its filters
//	data/receipts-N.js  reports and contents of 256 receipts
//
// Browsers do not permit a file to read other files, so the data files are scripts. Each data file
// calls receiptData with its name and its content, which is JSON, compressed with gzip (RFC 1952)
// and encoded in Base64.
package browse

//go:generate go run -C ../../../../receipt/serve/page/generate . -site ../../../../cmd/receipt/internal/browse
