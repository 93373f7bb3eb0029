package event

import (
	"slices"

	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A Word maps one spelling of a status or a decision to its meaning.
type Word struct{ Word, Means string }

// Words is a table that maps words to their meanings. Each word occurs only once.
type Words []Word

// NewWords returns a table with the given pairs of words and meanings.
func NewWords(pairs ...string) Words {
	table := make(Words, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		table = append(table, Word{pairs[i], pairs[i+1]})
	}
	return table
}

// Meaning returns the meaning of a word, or the argument "otherwise" if the table does not contain
// the word.
func (t Words) Meaning(word, otherwise string) string {
	for _, w := range t {
		if w.Word == word {
			return w.Means
		}
	}
	return otherwise
}

// Has reports whether the table contains a word.
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

// HandoffStatuses maps the states of work by another agent or a bridge worker to handoff statuses.
// Any other state, such as "running", is mapped to "accepted", because that status does not mean
// that the work has ended.
func HandoffStatuses() Words {
	return Words{
		{"rejected", "rejected"}, {"denied", "rejected"},
		{"failed", "failed"}, {"cancelled", "failed"}, {"canceled", "failed"}, {"stopped", "failed"}, {"timeout", "failed"},
		{"completed", "completed"}, {"succeeded", "completed"},
	}
}

// Buckets maps the causes of failed chat turns to the failure buckets of package record.
func Buckets() Words {
	const terminating, transient, correctable = "session_terminating", "retryable_transient", "user_correctable"
	return NewWords(
		"session_load_failed", terminating, "session_save_failed", terminating, "session_state_migration_chain_ambiguous", terminating,
		"session_state_migration_missing", terminating, "suspension_persistence_failed", terminating, "harness_session_id_unresolved", terminating,

		"provider_unavailable", transient, "provider_timeout", transient, "provider_rate_limit", transient, "provider_rate_limited", transient,
		"provider_model_not_loaded", transient,

		"provider_authentication", correctable, "provider_invalid_model", correctable, "provider_invalid_request", correctable,
		"provider_invalid_response", correctable, "provider_unsupported_content_block", correctable, "structured_output_invalid", correctable,
		"suspension_resume_payload_invalid", correctable, "chat_message_shape_invalid", correctable,
	)
}

// Shorten truncates text for display. It is never applied to IDs.
func Shorten(s string) string { return untrusted.Cut(s, 1<<10) }

// Rows returns the rows of a table in the documentation, one for each value.
func Rows[T any](all []T, cells func(T) []string) [][]string {
	rows := make([][]string, 0, len(all))
	for _, x := range all {
		rows = append(rows, cells(x))
	}
	return rows
}
