package event

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// Limits of one recording. What goes beyond them is refused with [CodeLimit] and a
// *[LimitError], never cut off silently. With them a recording takes at most 256 MiB
// of memory, however long its log is, and time in proportion to the log.
const (
	MaxLine    = canon.MaxBytes // bytes of one line, 16 MiB
	MaxValues  = 1 << 20        // JSON values in one line, names of members included
	MaxEvents  = 1 << 18        // events of one task
	MaxEntries = 1 << 16        // entries of all lists of the draft together
	MaxKept    = 64 << 20       // bytes that are kept until the draft is made: names, digests, questions and answers
	MaxText    = 4 << 10        // bytes of one id, name or path
	MaxFailure = 64 << 10       // bytes of a failure, in canonical form
	MaxTokens  = 1<<53 - 1      // tokens in all
	MaxPending = 1 << 16        // requests without a response, in a log of frames
)

const (
	MaxPaths     = 1 << 12 // files that one call is going to change
	MaxReviewers = 1_000   // of one approval
)

// MaxFailureDepth leaves room for what is around a failure: a receipt has at most
// receipt.MaxDepth levels.
const MaxFailureDepth = 100

// A Limit is one bound of a recording.
type Limit struct {
	Name string // of the constant; "" when it has none
	Most int64
	Of   string // what is counted
	Do   string // what whoever meets it can do
}

// Limits returns them all. docs/record.md is made from it.
func Limits() []Limit {
	const (
		shorter = "log its digest in its place, as a member whose name ends in _sha256"
		split   = "give the work to several tasks, each with a receipt of its own"
	)
	return []Limit{
		{"MaxLine", MaxLine, "bytes of one line", shorter},
		{"MaxValues", MaxValues, "JSON values in one line", shorter},
		{"MaxEvents", MaxEvents, "events of one task", split},
		{"MaxEntries", MaxEntries, "entries of all lists of the draft", split},
		{"MaxKept", MaxKept, "bytes that are kept until the draft is made", split},
		{"MaxText", MaxText, "bytes of one id, name or path", "log a shorter one"},
		{"MaxFailure", MaxFailure, "bytes of a failure in canonical form", "log a shorter one, and the long one as an artifact"},
		{"MaxTokens", MaxTokens, "tokens in all", "look for a number in the log that is none of tokens"},
		{"MaxPending", MaxPending, "requests without a response", "log both directions of the bridge"},
		{"receipt.MaxBytes", receipt.MaxBytes, "bytes of the texts of a draft", split},
		{LimitPaths, MaxPaths, "files that one call is going to change", split},
		{LimitReviewers, MaxReviewers, "reviewers, or signatures, of one approval", "leave out those that are not needed"},
		{LimitDepth, MaxFailureDepth, "nested levels of a failure", "log a flatter one"},
	}
}

// Limits whose constants are not exported.
const (
	LimitPaths     = "files of a call"
	LimitReviewers = "reviewers"
	LimitDepth     = "levels of a failure"
)

// A LimitError says which limit was met.
type LimitError struct {
	Limit
	Found int64 // at least so many; 0: more than Most, nobody counted how many
}

// Error names the limit, what was found, and what to do.
func (e *LimitError) Error() string {
	found := "more"
	if e.Found > 0 {
		found = fmt.Sprint(e.Found)
	}
	return fmt.Sprintf("expected at most %d %s (%s), found %s: %s", e.Most, e.Of, e.Name, found, e.Do)
}

func exceeded(name string, found int64) *LimitError {
	for _, l := range Limits() {
		if l.Name == name {
			return &LimitError{l, found}
		}
	}
	return &LimitError{Limit{Name: name}, found}
}
