package daily

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A teller reports the result of a run.
type teller struct {
	env     *cli.Env
	options *Options
	result  *result
}

// tell reports which receipts were created, and why other receipts were not created. Names of
// files, sessions, and rules may contain anything, so text that looks like a secret is not printed.
func (t *teller) tell(heads []ledger.StreamHead) error {
	if t.env.Messages == nil {
		t.env.Messages = sync.OnceValues(cli.CompileMessages)
	}

	out, text := t.env.Out, t.env.Text()

	// The drafts are printed to stdout, so the report is printed to stderr.
	if t.options.Ledger == "" && !t.options.Look && (t.options.Output == "" || t.options.Output == cli.StdinName) {
		out, text = t.env.Err, t.env.Notes()
	}
	if t.options.JSON {
		return t.writeJSON(out, heads)
	}
	_, err := io.WriteString(text, t.text(heads))
	return err
}

// text formats the result for people.
func (t *teller) text(heads []ledger.StreamHead) string {
	var b strings.Builder
	if len(t.options.Own) > 0 {
		t.writeAgents(&b)
	} else {
		fmt.Fprintf(&b, "%s: %s\n", t.what(t.result.entries), t.counts(t.result.entries))
	}

	if n := t.result.values(); n > 0 {
		fmt.Fprintf(&b, "%-*s%s in %s (by rule: %s)\n", cli.LabelWidth, "withheld", cli.Plural(n, "value", ""), cli.Plural(t.result.redacted, t.thing(), ""), t.clean(counted(t.result.rules, " ")))
	}
	if len(t.result.unrecorded) > 0 {
		var parts []string
		for _, g := range gaps() {
			if n := t.result.unrecorded[g.name]; n > 0 {
				parts = append(parts, fmt.Sprintf("%s (%d)", g.name, n))
			}
		}
		fmt.Fprintf(&b, "%-*s%s\n", cli.LabelWidth, headline.NotRecorded, strings.Join(parts, ", "))
	}

	if of := t.result.unread; len(of) > 0 {
		total := 0
		for _, n := range of {
			total += n
		}
		fmt.Fprintf(&b, "%-*s%s: %s\n", cli.LabelWidth, "not read", headline.NotRead(total, len(of)), t.clean(cli.BareNames(slices.Sorted(maps.Keys(of)))))
	}

	var grown []string
	if len(t.options.Own) > 0 && t.options.Ledger != "" {
		fmt.Fprintf(&b, "%-*s%s\n", cli.LabelWidth, "ledger", cli.Tilde(t.env, input.LedgerName(t.options.Ledger)))
		heads = nil // "receipt ledger head" prints the heads
	}
	for _, h := range heads {
		grown = append(grown, fmt.Sprintf("%v %s", h.Head.Hash, t.clean(input.StreamText(h.Stream))))
	}
	for _, rows := range []struct {
		label string
		lines []string
	}{
		{"running", t.taskRows(growing)}, {"left", append(t.taskRows(differs, refused), t.fileRows(unreadable)...)}, {"skipped", t.fileRows(skipped, copied)}, {"head", grown},
	} {
		b.WriteString(cli.Rows(rows.label, rows.lines, cli.MaxStreams, len(rows.lines)))
	}
	return b.String()
}

// writeAgents writes one line for each agent of the user.
func (t *teller) writeAgents(b *strings.Builder) {
	told := ""
	for _, f := range t.options.Own {
		if f.label == told {
			continue
		}
		told = f.label
		var of []*entry
		for _, e := range t.result.entries {
			if t.agent(e) == f.label {
				of = append(of, e)
			}
		}
		fmt.Fprintf(b, "%-*s%s: %s\n", cli.LabelWidth, f.label, t.what(of), t.counts(of))
	}
}

// agent returns the label of the agent that wrote the log of a task.
func (t *teller) agent(e *entry) string {
	for _, f := range t.options.Own {
		if strings.HasPrefix(e.Sources[0], f.Path+string(filepath.Separator)) {
			return f.label
		}
	}
	return ""
}

// what returns a phrase with the number of sessions, such as "2 sessions". If each task has its own
// receipt, the phrase also contains the number of tasks.
func (t *teller) what(of []*entry) string {
	named := map[string]bool{}
	for _, e := range of {
		named[e.session()] = true
	}
	sessions := cli.Plural(len(named), "session", "")
	if t.options.Apart {
		return cli.Plural(len(of), "task", "") + " of " + sessions
	}
	return sessions
}

// counts returns a phrase with the number of tasks for each status.
func (t *teller) counts(of []*entry) string {
	c := map[status]int{}
	for _, e := range of {
		c[e.Status]++
	}
	text := t.verb(c[made])
	for _, part := range []struct {
		n      int
		text   string
		always bool
	}{
		{c[growing], "still running (left for the next run)", false},
		{c[known], "known before", len(t.options.Own) == 0},
		{c[older], "older than --since", false},
		{c[differs], "recorded before with different content", false},
		{c[refused], "not recorded", false},
	} {
		if part.n > 0 || part.always {
			text += fmt.Sprintf(", %s %s", cli.Count(part.n), part.text)
		}
	}
	return text
}

func (t *teller) thing() string {
	if t.options.Ledger != "" {
		return "receipt"
	}
	return "draft"
}

func (t *teller) verb(made int) string {
	text := cli.Plural(made, t.thing(), "")
	switch {
	case t.options.Look:
		return text + " to make"
	case t.options.Ledger != "":
		return text + " issued"
	}
	return text + " made"
}

func (t *teller) taskRows(of ...status) (list []string) {
	for _, e := range t.result.entries {
		if slices.Contains(of, e.Status) {
			list = append(list, fmt.Sprintf("%s (%s): %s", cli.Bare(t.clean(e.Sources[0])), cli.Bare(t.clean(cmp.Or(e.Task, e.Session))), t.reason(e.why)))
		}
	}
	return list
}

// fileRows returns a row for each file with one of the given statuses. In the directories of the
// user's agents, files of other kinds are expected, so they have no rows.
func (t *teller) fileRows(of ...status) (list []string) {
	for _, f := range t.result.files {
		if slices.Contains(of, f.Status) && (len(t.options.Own) == 0 || f.why != errNoLog) {
			list = append(list, fmt.Sprintf("%s (%s)", cli.Bare(t.clean(f.Source)), t.reason(f.why)))
		}
	}
	return list
}

// reason returns an error as one line of text without secrets.
func (t *teller) reason(err error) string {
	if err == nil {
		return ""
	}
	return cli.EscapeLine(t.clean(err.Error()))
}

// clean returns untrusted text without anything that looks like a secret.
func (t *teller) clean(text string) string {
	if text == "" {
		return ""
	}
	return t.env.WithoutSecrets(text)
}

func counted(of map[string]int, between string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprint(name, between, of[name]))
	}
	return strings.Join(parts, ", ")
}

// writeJSON writes the result for programs.
func (t *teller) writeJSON(out io.Writer, heads []ledger.StreamHead) error {
	c := t.result.count
	type stream struct {
		Issuer    string  `json:"issuer"`
		Tenant    *string `json:"tenant"`
		Workspace string  `json:"workspace"`
		Head      string  `json:"head"`
	}
	text := struct {
		Each        string         `json:"each"`
		Ledger      string         `json:"ledger"`
		DryRun      bool           `json:"dry_run"`
		Sessions    int            `json:"sessions"`
		Counts      map[status]int `json:"counts"`
		Withheld    map[string]int `json:"withheld"`
		NotRecorded map[string]int `json:"not_told"`
		NotRead     map[string]int `json:"not_read,omitempty"`
		Tasks       []entry        `json:"tasks"`
		Files       []fileEntry    `json:"files"`
		Streams     []stream       `json:"streams"`
	}{
		Each: "session", Ledger: t.clean(t.options.Ledger), DryRun: t.options.Look, Sessions: len(t.result.sessions), Counts: map[status]int{},
		Withheld: t.result.rules, NotRecorded: t.result.unrecorded, NotRead: map[string]int{}, Tasks: []entry{}, Files: []fileEntry{}, Streams: []stream{},
	}

	for name, n := range t.result.unread {
		text.NotRead[t.clean(name)] += n
	}
	if t.options.Apart {
		text.Each = "task"
	}

	// Every status has a count, even if the count is 0.
	for _, s := range []status{made, known, older, growing, differs, refused, skipped, copied, unreadable} {
		text.Counts[s] = c[s]
	}

	for _, e := range t.result.entries {
		one := entry{Status: e.Status, Task: t.clean(e.Task), Session: t.clean(e.Session), Receipt: t.clean(cmp.Or(e.last, e.Receipt)), Hash: e.Hash, Detail: t.reason(e.why)}
		for _, s := range e.Sources {
			one.Sources = append(one.Sources, t.clean(s))
		}
		text.Tasks = append(text.Tasks, one)
	}
	for _, f := range t.result.files {
		text.Files = append(text.Files, fileEntry{Status: f.Status, Source: t.clean(f.Source), Detail: t.reason(f.why)})
	}

	for _, h := range heads {
		one := stream{Issuer: t.clean(h.Stream.Issuer), Workspace: t.clean(h.Stream.Workspace), Head: h.Head.Hash.String()}
		if h.Stream.HasTenant {
			tenant := t.clean(h.Stream.Tenant)
			one.Tenant = &tenant
		}
		text.Streams = append(text.Streams, one)
	}

	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(text)
}
