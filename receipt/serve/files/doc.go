// Package files serves receipts from files: it is a source for package serve that reads a directory
// of receipts without a ledger.
//
//	index, err := files.Open(ctx, files.Options{}, sources...) // sources: package stream
//	s, err := serve.New(serve.Options{Source: index, …})
//
// The files are read at startup and indexed: the index contains each receipt's location, by
// receipt_id and by task, the digest of its bytes, and whether it follows its predecessor. The
// receipts themselves stay in the files and are read on request. [NewProofs] creates proofs that a
// signed checkpoint covers them.
//
// The API may still change.
package files
