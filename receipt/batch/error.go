package batch

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

// A DraftError says that one draft keeps a batch from being made.
type DraftError struct {
	Index int   // of the draft, from 0
	Err   error // a *[receipt.InvalidError] that names every problem, or what a signer said
}

// Error gives the index and the error.
func (e *DraftError) Error() string { return fmt.Sprintf("batch: draft %d: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *DraftError) Unwrap() error { return e.Err }

// An InvalidError says why a JSON text is not a manifest: it does not fit the
// schema, or lists something twice.
type InvalidError struct {
	Problems []schemas.Problem // the first [schemas.MaxProblems]
	Total    int               // how many there are
}

// Error lists the problems, one a line after the first.
func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "batch: the manifest is malformed: %d problem", e.Total)
	if e.Total != 1 {
		b.WriteByte('s')
	}
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n%s", p.Detail)
		if p.Pointer != "" {
			fmt.Fprintf(&b, " at %+q", p.Pointer)
		}
	}
	return b.String()
}

// A RootError says that a manifest states another root than that of its leaves.
type RootError struct {
	Stated, Computed canon.Digest
	Why              string // what the stated root is instead, as [Manifest.Explain] says; may be empty
}

// Error gives both roots, and why they differ when that is known.
func (e *RootError) Error() string {
	text := fmt.Sprintf("batch: the manifest states the root %v, its leaves have the RFC 9162 root %v", e.Stated, e.Computed)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// A MismatchError says that a receipt is not the one that the manifest lists
// under its id.
type MismatchError struct {
	ReceiptID string
	Pointer   string       // RFC 6901, into the manifest: what differs
	Listed    canon.Digest // in the manifest
	Found     canon.Digest // computed from the receipt; its merkle_root as it states it, zero when it states none
	Why       string       // of a merkle_root, what it is instead, as [Manifest.Explain] says; may be empty
}

// Error gives the place and both digests.
func (e *MismatchError) Error() string {
	found := e.Found.String()
	if e.Found.IsZero() {
		found = "none"
	}
	text := fmt.Sprintf("batch: receipt %+.60q: the manifest lists %v at %s, the receipt has %s", e.ReceiptID, e.Listed, e.Pointer, found)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// A NotListedError says that a manifest does not list a receipt.
type NotListedError struct{ ReceiptID string }

// Error gives the id.
func (e *NotListedError) Error() string {
	return fmt.Sprintf("batch: the manifest lists no receipt %+.60q", e.ReceiptID)
}
