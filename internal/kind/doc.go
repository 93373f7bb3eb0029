// Package kind recognizes files that were passed as receipts but are something else, based on their
// first bytes: for example, a draft, a key file, a proof, an agent log, or a PDF.
//
//	found := kind.Of(head, len(head) == size)
//	if found.Kind != kind.Unknown {
//		fmt.Printf("not a receipt, but %s: %s\n", found.What, found.Next)
//	}
//
// The package only recognizes files. Files that it does not recognize, and files that may contain a
// receipt, even a damaged one, are [Unknown], and a verifier must evaluate them. Recognizing a file
// verifies nothing.
package kind
