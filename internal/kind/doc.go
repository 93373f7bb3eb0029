// Package kind recognizes, by their first bytes, files that were passed as receipts but are
// something else: for example, a draft, a key file, a proof, an agent log, or a PDF.
//
//	found := kind.Of(head, len(head) == size)
//	if found.Kind != kind.Unknown {
//		fmt.Printf("not a receipt, but %s: %s\n", found.What, found.Next)
//	}
//
// The package recognizes files, but does not verify them. A file is [Unknown] if the package does
// not recognize it, or if it may contain a receipt, even a damaged one. A verifier must evaluate
// such a file.
package kind
