package event

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// These are limits on a recording. If a limit is exceeded, the recording fails with [CodeLimit] and
// a *[LimitError]; nothing is truncated. Within these limits, a recording uses at most 256 MiB of
// memory and an amount of time proportional to the size of the log.
const (
	MaxLine    = canon.MaxBytes // bytes in one line (16 MiB)
	MaxValues  = 1 << 20        // JSON values in one line, including member names
	MaxEvents  = 1 << 18        // events in one task
	MaxEntries = 1 << 16        // entries in all lists of the draft together
	MaxKept    = 64 << 20       // bytes kept until the draft is created: names, digests, questions, and answers
	MaxText    = 4 << 10        // bytes in an ID, name, or path
	MaxFailure = 64 << 10       // bytes in the canonical form of a failure
	MaxTokens  = 1<<53 - 1      // total number of tokens
	MaxPending = 1 << 16        // requests without a response in a log of frames
)

const (
	MaxPaths     = 1 << 12 // files that one call may change
	MaxReviewers = 1_000   // of one approval
)

// MaxFailureDepth is the maximum depth of a failure. It is lower than receipt.MaxDepth, because the
// failure is nested in other objects of the receipt.
const MaxFailureDepth = 100

// A Limit describes one limit on a recording.
type Limit struct {
	Name string // name of the constant, or a description if there is no constant
	Most int64
	Of   string // what is counted
	Do   string // how to stay within the limit
}

// Limits returns all limits; docs/record.md is generated from them.
func Limits() []Limit {
	const (
		shorter = "log its digest instead, in a member with a name that ends in _sha256"
		split   = "split the work into several tasks, each with its own receipt"
	)
	return []Limit{
		{"MaxLine", MaxLine, "bytes of one line", shorter},
		{"MaxValues", MaxValues, "JSON values in one line", shorter},
		{"MaxEvents", MaxEvents, "events of one task", split},
		{"MaxEntries", MaxEntries, "entries of all lists of the draft", split},
		{"MaxKept", MaxKept, "bytes that are kept until the draft is made", split},
		{"MaxText", MaxText, "bytes of one id, name or path", "log a shorter one"},
		{"MaxFailure", MaxFailure, "bytes of a failure in canonical form", "log a shorter one, and the long one as an artifact"},
		{"MaxTokens", MaxTokens, "tokens in all", "find a number in the log that does not count tokens"},
		{"MaxPending", MaxPending, "requests without a response", "log both directions of the bridge"},
		{"receipt.MaxBytes", receipt.MaxBytes, "bytes of the texts of a draft", split},
		{LimitPaths, MaxPaths, "files that one call is going to change", split},
		{LimitReviewers, MaxReviewers, "reviewers, or signatures, of one approval", "omit those that are not needed"},
		{LimitDepth, MaxFailureDepth, "nested levels of a failure", "log a flatter one"},
	}
}

// These are the names of limits whose constants are not exported.
const (
	LimitPaths     = "files of a call"
	LimitReviewers = "reviewers"
	LimitDepth     = "levels of a failure"
)

// A LimitError indicates that a limit was exceeded.
type LimitError struct {
	Limit
	Found int64 // a lower bound on the actual number, or 0 if it is only known to exceed Most
}

// Error returns the limit, the actual number, and a way to avoid exceeding the limit.
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
