// Package kind tells by its first bytes what a file is that somebody took for a
// receipt: a draft, a file of keys, a proof, a log of an agent, or a PDF.
//
//	found := kind.Of(head, len(head) == size)
//	if found.Kind != kind.Unknown {
//		fmt.Printf("not a receipt, but %s: %s\n", found.What, found.Next)
//	}
//
// It only recognizes. What it does not know is [Unknown], and for a verifier to
// judge; so is everything that may be a receipt, however damaged. Nothing is
// verified because of what is said here.
package kind
