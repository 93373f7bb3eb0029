package batch

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/schemas"
)

// A DraftError indicates that a draft prevents a batch from being created.
type DraftError struct {
	Index int   // index of the draft, from 0
	Err   error // a *[receipt.InvalidError] that lists every problem, or a signer's error
}

// Error returns the index and the error.
func (e *DraftError) Error() string { return fmt.Sprintf("batch: draft %d: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *DraftError) Unwrap() error { return e.Err }

// An InvalidError describes why a JSON text is not a manifest: it does not match the schema, or it
// lists a value twice.
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
