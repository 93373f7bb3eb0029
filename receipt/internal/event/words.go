package event

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon/foreign"
)

// A Word says what one spelling of a status or a decision means.
type Word struct{ Word, Means string }

// Words are a table of them, each once.
type Words []Word

// NewWords returns a table of words, each followed by what it means.
func NewWords(pairs ...string) Words {
	table := make(Words, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		table = append(table, Word{pairs[i], pairs[i+1]})
	}
	return table
}

// Meaning looks a word up.
func (t Words) Meaning(word, otherwise string) string {
	for _, w := range t {
		if w.Word == word {
			return w.Means
		}
	}
	return otherwise
}

// Has reports whether a word is in the table.
func (t Words) Has(word string) bool {
	return slices.ContainsFunc(t, func(w Word) bool { return w.Word == word })
}

// Decisions of approvals.
const (
	Approved = "approved"
	Denied   = "denied"
	Canceled = "canceled"
	TimedOut = "timeout"
)

// HandoffStatuses returns what the words for the state of another agent's work
// mean, those of workers on the bridge included. Any other, such as running, is
// accepted: it claims no end.
func HandoffStatuses() Words {
	return Words{
		{"rejected", "rejected"}, {"denied", "rejected"},
		{"failed", "failed"}, {"cancelled", "failed"}, {"canceled", "failed"}, {"stopped", "failed"}, {"timeout", "failed"},
		{"completed", "completed"}, {"succeeded", "completed"},
	}
}

// Shorten shortens a text for people; ids are never cut.
func Shorten(s string) string { return foreign.Cut(s, 1<<10) }

// Rows returns a table for documentation: for each value, a row of cells.
func Rows[T any](all []T, cells func(T) []string) [][]string {
	rows := make([][]string, 0, len(all))
	for _, x := range all {
		rows = append(rows, cells(x))
	}
	return rows
}
