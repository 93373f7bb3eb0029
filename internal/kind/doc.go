// Package kind recognizes, by their first bytes, files that are not receipts but were passed as
// such: a draft, a file of keys, a proof, the log of an agent, or a PDF.
//
//	found := kind.Of(head, len(head) == size)
//	if found.Kind != kind.Unknown {
//		fmt.Printf("not a receipt, but %s: %s\n", found.What, found.Next)
//	}
//
// The package only recognizes files. Anything else is [Unknown], for a verifier to judge, and so is
// anything that may be a receipt, even if it is damaged. Recognizing a file verifies nothing.
package kind
