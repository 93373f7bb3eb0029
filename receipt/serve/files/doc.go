// Package files serves receipts from files: it implements a source for package serve that reads a
// directory of receipts instead of a ledger.
//
//	index, err := files.Open(ctx, files.Options{}, sources...) // sources: package stream
//	s, err := serve.New(serve.Options{Source: index, …})
//
// The files are read at startup and indexed. The index finds receipts by receipt_id and by task.
// For each receipt, it contains the location, the digest of the bytes, and whether the receipt
// follows its predecessor. The receipts themselves remain in the files and are read for each
// request. [NewProofs] creates proofs that a signed checkpoint covers the receipts.
//
// The API of this package may still change.
package files
