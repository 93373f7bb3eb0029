// Package files serves receipts that lie in files: the source of package serve for whoever
// has a folder of them and no ledger.
//
//	index, err := files.Open(ctx, files.Options{}, sources...) // sources: package stream
//	s, err := serve.New(serve.Options{Source: index, …})
//
// The files are read at the start and indexed: where each receipt lies, by receipt_id and
// by task, the digest of its bytes, and whether it follows the receipt before it. The
// receipts themselves stay in the files and are read when they are asked for. [NewProofs]
// makes proofs that they are under a signed checkpoint.
//
// The exported names may still change.
package files
