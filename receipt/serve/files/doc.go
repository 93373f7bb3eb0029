// Package files serves receipts from files: it is a source of package serve for a directory of
// receipts without a ledger.
//
//	index, err := files.Open(ctx, files.Options{}, sources...) // sources: package stream
//	s, err := serve.New(serve.Options{Source: index, …})
//
// The files are read at the start and indexed: the location of each receipt, by receipt_id and by
// task, the digest of its bytes, and whether it follows its predecessor. The receipts themselves
// stay in the files and are read on request. [NewProofs] creates proofs that a signed checkpoint
// covers them.
//
// The API may still change.
package files
