package batch

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/schemas"
)

// A DraftError describes why a batch cannot be created from a draft.
type DraftError struct {
	Index int   // index of the draft, from 0
	Err   error // *[receipt.InvalidError] that lists all problems, or an error from the signer
}

// Error returns a message with the index of the draft and the cause.
func (e *DraftError) Error() string { return fmt.Sprintf("batch: draft %d: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *DraftError) Unwrap() error { return e.Err }

// A RootError indicates that the root in a manifest does not match the leaves in it.
type RootError struct {
	Detail string // both roots, followed by the result of [Manifest.Explain] unless it is empty
}

// Error returns the detail.
func (e *RootError) Error() string { return "batch: " + e.Detail }

// An InvalidError describes why JSON is not a manifest. Either it does not match the schema, or it
// lists a value twice.
type InvalidError struct {
	Problems []schemas.Problem // the first [schemas.MaxProblems]
	Total    int               // number of problems
}

// Error lists the problems. Each problem is on a separate line after the first line.
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
