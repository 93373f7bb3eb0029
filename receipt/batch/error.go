package batch

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

// A DraftError indicates that one draft prevents a batch from being created.
type DraftError struct {
	Index int   // index of the draft, from 0
	Err   error // a *[receipt.InvalidError] that lists every problem, or the error of a signer
}

// Error returns the index and the error.
func (e *DraftError) Error() string { return fmt.Sprintf("batch: draft %d: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *DraftError) Unwrap() error { return e.Err }

// An InvalidError describes why a JSON text is not a manifest: it does not match the schema, or
// lists something twice.
type InvalidError struct {
	Problems []schemas.Problem // the first [schemas.MaxProblems]
	Total    int               // number of problems
}

// Error lists the problems, one per line after the first line.
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

// A RootError indicates that a manifest states a root other than that of its leaves.
type RootError struct {
	Stated, Computed canon.Digest
	Why              string // what the stated root is, as [Manifest.Explain] describes it; may be empty
}

// Error returns both roots, and why they differ if that is known.
func (e *RootError) Error() string {
	text := fmt.Sprintf("batch: the manifest states the root %v, its leaves have the RFC 9162 root %v", e.Stated, e.Computed)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// A MismatchError indicates that a receipt is not the one that the manifest lists under its ID.
type MismatchError struct {
	ReceiptID string
	Pointer   string       // RFC 6901, into the manifest, of the value that differs
	Listed    canon.Digest // in the manifest
	Found     canon.Digest // computed from the receipt; for merkle_root, the stated root, or zero if none is stated
	Why       string       // for merkle_root, what the root is, as [Manifest.Explain] describes it; may be empty
}

// Error returns the location and both digests.
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

// A NotListedError indicates that a manifest does not list a receipt.
type NotListedError struct{ ReceiptID string }

// Error returns the ID.
func (e *NotListedError) Error() string {
	return fmt.Sprintf("batch: the manifest lists no receipt %+.60q", e.ReceiptID)
}
