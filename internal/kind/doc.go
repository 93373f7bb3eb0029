// Package kind recognizes files by their first bytes, if they were taken for receipts: a draft, a
// file of keys, a proof, the log of an agent, or a PDF.
//
//	found := kind.Of(head, len(head) == size)
//	if found.Kind != kind.Unknown {
//		fmt.Printf("not a receipt, but %s: %s\n", found.What, found.Next)
//	}
//
// The package only recognizes. Anything else is [Unknown], for a verifier to judge, and so is
// anything that may be a receipt, however damaged. A recognized kind verifies nothing.
package kind
