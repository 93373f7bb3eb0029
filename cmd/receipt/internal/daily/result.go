package daily

import (
	"errors"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// A status is the outcome for a task or a file.
type status string

const (
	made    status = "made"    // a receipt or a draft was created
	known   status = "known"   // the receipt already exists
	older   status = "older"   // the task ended before the requested time
	growing status = "growing" // the task is postponed to the next run
	differs status = "differs" // the existing receipt contains different statements
	refused status = "refused" // no receipt can be created

	skipped    status = "skipped"    // not a log
	copied     status = "copied"     // the file is identical to another log
	unreadable status = "unreadable" // the file may be a log
)

// left returns the status of a task whose lines could not be read again.
func left(err error) status {
	if errors.Is(err, errChanged) {
		return growing
	}
	return refused
}

// An entry is a task and its status.
type entry struct {
	Status  status   `json:"status"`
	Task    string   `json:"task_id"`      // "" is not stated, also of the session
	Session string   `json:"session_id"`   // that of the task
	Receipt string   `json:"receipt_id"`   // "" if there is none
	Hash    string   `json:"receipt_hash"` // of the receipt
	Sources []string `json:"sources"`
	Detail  string   `json:"detail"`

	last, next string // ID of the latest receipt for the task, and ID of a receipt that would supersede it
	why        error
}

// A fileEntry is a file that contains no task, and the reason.
type fileEntry struct {
	Status status `json:"status"`
	Source string `json:"source"`
	Detail string `json:"detail"`

	why error
}

// A result describes the outcome of a run.
type result struct {
	entries  []*entry
	files    []*fileEntry
	count    map[status]int
	sessions map[string]bool

	rules      map[string]int // number of values that each rule withheld
	redacted   int            // number of receipts from which values were withheld
	unrecorded map[string]int // number of receipts
	unread     map[string]int // number of records that were not read, by type
}

func newResult() *result {
	return &result{count: map[status]int{}, sessions: map[string]bool{}, rules: map[string]int{}, unrecorded: map[string]int{}, unread: map[string]int{}}
}

func (r *result) file(s status, source string, why error) {
	r.files = append(r.files, &fileEntry{Status: s, Source: source, why: why})
	r.count[s]++
}

func (r *result) add(e *entry) {
	r.entries = append(r.entries, e)
	r.count[e.Status]++
	r.sessions[e.session()] = true
}

// session returns a key that identifies the session of a task, which is its ID or, if it has none,
// its logs.
func (e *entry) session() string {
	if e.Session != "" {
		return e.Session
	}
	return strings.Join(append([]string{""}, e.Sources...), "\x00")
}

// withheld counts the values that were removed from a draft.
func (r *result) withheld(entries []redact.Entry) {
	if len(entries) > 0 {
		r.redacted++
	}
	for _, e := range entries {
		for _, rule := range strings.Split(e.Reason, ", ") {
			r.rules[rule]++
		}
	}
}

func (r *result) values() (n int) {
	for _, of := range r.rules {
		n += of
	}
	return n
}

// A gap is a value that logs often lack.
type gap struct{ name, at string }

func gaps() []gap {
	return []gap{
		{"cost", "/cost/total"}, {"approvals", "/approvals"}, {"end", "/lifecycle/final_state"}, {"times", "/lifecycle/started_at"}, {"model", "/model_route/chosen_model/model"}, {"model provider", "/model_route/chosen_model/provider"},
		{"tier", "/trust/start_tier"}, {"file writes", "/side_effects/fs_writes"}, {"network", "/side_effects/network_egress"},
	}
}

// notRecorded counts the values that the log of a receipt lacks.
func (r *result) notRecorded(list receipt.Pointers) {
	for _, g := range gaps() {
		if slices.Contains(list, g.at) {
			r.unrecorded[g.name]++
		}
	}
}

// maxUnread is the maximum number of record types that are counted separately.
const maxUnread = 64

// notRead adds the numbers of unread records in a log, by type.
func (r *result) notRead(of canon.Node) {
	for name, n := range of.Members() {
		kind := name.String()
		if _, have := r.unread[kind]; !have && len(r.unread) >= maxUnread {
			kind = "(others)"
		}
		r.unread[kind] += int(n.Float())
	}
}

// exit returns the exit code for the most severe problem. Contradictions are the most severe,
// followed by unreadable files and by tasks that are not over.
func (r *result) exit() int {
	switch {
	case r.count[differs] > 0:
		return cli.ExitRefuted
	case r.count[unreadable]+r.count[refused] > 0, len(r.entries) == 0:
		return cli.ExitUsage
	case r.count[growing] > 0:
		return cli.ExitUndecided
	}
	return cli.ExitVerified
}
