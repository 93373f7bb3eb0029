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

// A status is what became of a task, or of a file.
type status string

const (
	made    status = "made"    // a receipt, or a draft
	known   status = "known"   // there is a receipt of it already
	older   status = "older"   // than what was asked for
	growing status = "growing" // left for the next run
	differs status = "differs" // its receipt is of something else
	refused status = "refused" // no receipt can be made of it

	skipped    status = "skipped"    // no log
	copied     status = "copied"     // the same as another log
	unreadable status = "unreadable" // it may be a log
)

// left is the status of a task whose lines could not be read again.
func left(err error) status {
	if errors.Is(err, errChanged) {
		return growing
	}
	return refused
}

// An entry is a task, and what became of it.
type entry struct {
	status        status
	task, session string // "" is not told
	receipt, hash string // "" there is none
	last, next    string // ids of the latest receipt of the task, and of one that takes its place
	sources       []string
	why           error
}

// A fileEntry is a file of which no task came, and why.
type fileEntry struct {
	status status
	source string
	why    error
}

// A result is what became of everything.
type result struct {
	entries  []*entry
	files    []*fileEntry
	count    map[status]int
	sessions map[string]bool

	rules    map[string]int // that withheld something, and how many values
	redacted int            // receipts of which something was withheld
	untold   map[string]int // in how many receipts
	unread   map[string]int // records that were not read, by type
}

func newResult() *result {
	return &result{count: map[status]int{}, sessions: map[string]bool{}, rules: map[string]int{}, untold: map[string]int{}, unread: map[string]int{}}
}

func (r *result) file(s status, source string, why error) {
	r.files = append(r.files, &fileEntry{s, source, why})
	r.count[s]++
}

func (r *result) add(e *entry) {
	r.entries = append(r.entries, e)
	r.count[e.status]++
	if e.session != "" {
		r.sessions[e.session] = true
	} else {
		r.sessions[strings.Join(append([]string{""}, e.sources...), "\x00")] = true
	}
}

// withheld counts what was taken out of a draft.
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

// A gap is something that logs often do not tell.
type gap struct{ name, at string }

func gaps() []gap {
	return []gap{
		{"cost", "/cost/total"}, {"approvals", "/approvals"}, {"end", "/lifecycle/final_state"}, {"times", "/lifecycle/started_at"}, {"model", "/model_route/chosen_model/model"},
		{"tier", "/trust/start_tier"}, {"file writes", "/side_effects/fs_writes"}, {"network", "/side_effects/network_egress"},
	}
}

// notTold counts what the log of a receipt does not tell.
func (r *result) notTold(list receipt.Pointers) {
	for _, g := range gaps() {
		if slices.Contains(list, g.at) {
			r.untold[g.name]++
		}
	}
}

// maxUnread bounds the types of records that are counted apart.
const maxUnread = 64

// notRead adds the records of a log that were not read, by type.
func (r *result) notRead(of canon.Node) {
	for name, n := range of.Members() {
		kind := name.String()
		if _, have := r.unread[kind]; !have && len(r.unread) >= maxUnread {
			kind = "(others)"
		}
		r.unread[kind] += int(n.Float())
	}
}

// exit says whether something is left: what contradicts a receipt or a log, what could not
// be read, and what is not over yet, the worst of them.
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
