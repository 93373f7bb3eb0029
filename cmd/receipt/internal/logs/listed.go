package logs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type listOptions struct {
	receiptFlags
	keys, since, project, model string
	failed, json                bool
}

// NewList returns the command "receipt list".
func NewList(e *cli.Env) *cobra.Command {
	o := &listOptions{}
	cmd := &cobra.Command{
		Use:   "list [PATH…]",
		Short: "list receipts with their verdicts",
		Long: `List and verify the receipts of a ledger, files, or directories (default: the
default ledger), newest first. ≥ precedes a lower bound; - means not recorded.

Exit code 1: a listed receipt is refuted.`,
		Example: `  receipt list receipt.json
  receipt list --failed receipt.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.keys, "keys", "k", "", "trusted keys (JWK Set) (`FILE`)")
	f.StringVar(&o.since, "since", "", "earliest start: a time, or a duration such as 7d (`TIME`)")
	f.StringVar(&o.project, "project", "", "part of the project's name (`TEXT`)")
	f.StringVar(&o.model, "model", "", "part of the model's name (`TEXT`)")
	f.BoolVar(&o.failed, "failed", false, "only failed tasks and refuted receipts")
	f.BoolVar(&o.json, "json", false, "write JSON lines")
	return cmd
}

func (o *listOptions) run(ctx context.Context, e *cli.Env, paths []string) error {
	if len(paths) == 0 && e.Defaults.Ledger != "" {
		paths, o.ledger = []string{e.Defaults.Ledger}, true
	}
	if len(paths) == 0 {
		return cli.Usage("run receipt init, or specify PATH", "expected a ledger, or files and directories of receipts")
	}
	since, err := cli.SinceTime(o.since, e.Now())
	if err != nil {
		return err
	}
	v, file, err := trust.VerifierIfKeys(e, o.keys)
	if err != nil {
		return err
	}

	var list []*listed
	var ids []string // of all receipts that were found
	pruned := 0
	err = o.with(ctx, e, paths, "", func(m *meant) error {
		for _, err := range m.pruned {
			if err != nil {
				return input.LedgerReading(err)
			}
			pruned++
		}
		list, ids, err = o.read(ctx, e, v, m, pruned, since)
		return err
	})
	if list == nil {
		return err
	}
	if pruned > 0 {
		e.Note("%s pruned, and not listed", cli.Plural(pruned, "receipt", verbOf(int64(pruned))))
	}
	if len(list) == 0 {
		text := "found no receipts"
		if len(ids) > 0 {
			text += " that match the flags, among " + cli.Plural(len(ids), "receipt", "")
		}
		e.Note("%s", text)
	}
	if file == nil {
		e.Note("signatures were not checked; specify trusted keys with --keys")
	}

	// A refuted receipt determines the exit code, but unread inputs are still reported.
	failed := o.print(e, list)
	if failed != nil && err != nil {
		cli.Tell(e, err)
	}
	return cmp.Or(failed, err)
}

// read verifies the receipts, and returns the selected receipts, the newest first, and the IDs of
// all receipts. If an input could not be read completely, it also returns an error.
func (o *listOptions) read(ctx context.Context, e *cli.Env, v *receipt.Verifier, m *meant, pruned int, since time.Time) (list []*listed, ids []string, err error) {
	list = []*listed{}
	progress := e.Progress("verifying")
	defer progress.End()
	m.Show(progress)

	run := stream.VerifyFiles(ctx, v, m.Sources, stream.Options{Partial: pruned > 0})
	done, undecided := pruned, 0
	for rep := range run.Reports() {
		done++
		progress.Receipts(1)
		if slices.ContainsFunc(rep.Warnings, func(n receipt.Note) bool { return n.Code == "identical_copy" }) {
			continue
		}
		ids = append(ids, rep.ReceiptID.String())
		if row := rowOfReport(rep, run.Text()); o.selects(row, since) {
			row.number = len(ids) - 1
			list = append(list, row)
		} else if o.failed && rep.Verdict == receipt.Undecided {
			undecided++
		}
	}
	sum, err := run.Summary()
	if err = input.Fatal(err); err != nil {
		return nil, nil, err
	}

	if unread := sum.Inputs.Unreadable; len(unread) > 0 && !m.empty {
		err = input.NotRead(unread[0])
		if more := len(unread) - 1; more > 0 {
			e.Note("%s not read", cli.Plural(more, "more input", verbOf(int64(more))))
		}
		if m.Entries != 0 { // a ledger, whose number of receipts is unknown if the damage is at an end
			rest := "the receipts after the damage were"
			if n := m.Entries - int64(done); n > 0 {
				rest = cli.Plural(int(n), "receipt", verbOf(n))
			}
			e.Note("%s not listed, because reading stopped at the damage", rest)
		}
	}

	slices.SortStableFunc(list, func(a, b *listed) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.ID, b.ID)) })
	if undecided > 0 {
		e.Note("%s undecided, which --failed does not select", cli.Plural(undecided, "receipt", verbOf(int64(undecided))))
	}

	short := input.ShortIDs(ids) // unique among all receipts, because receipt show searches all
	for _, row := range list {
		row.Short = short[row.number]
	}
	return list, ids, err
}

// selects reports whether the flags select a receipt.
func (o *listOptions) selects(r *listed, since time.Time) bool {
	failed := r.State == receipt.StateFailed || r.State == receipt.StateCanceled || r.Verdict == receipt.Refuted.String()
	return !r.at.Before(since) && strings.Contains(r.Project, o.project) && strings.Contains(r.Model, o.model) && (failed || !o.failed)
}

func (o *listOptions) print(e *cli.Env, list []*listed) (err error) {
	refuted := false
	write := print.NewJSONWriter(e.Out)
	for _, row := range list {
		refuted = refuted || row.Verdict == receipt.Refuted.String()
		if o.json {
			if err := write.Write("", row, "\n"); err != nil {
				return err
			}
		}
	}
	if !o.json && len(list) > 0 {
		if _, err := e.Text().Write([]byte(tableOf(list, e.Width, e.Now()) + reasonsOf(list))); err != nil {
			return err
		}
	}
	if refuted {
		return cli.ExitWith(cli.ExitRefuted)
	}
	return nil
}

// A listed receipt is a row of the list. Values that the source did not record are absent.
type listed struct {
	Short    string       `json:"id"` // unique prefix
	ID       string       `json:"receipt_id"`
	Source   string       `json:"source"`
	Title    string       `json:"title,omitzero"`
	Started  string       `json:"started_at,omitzero"`
	Issued   string       `json:"issued_at,omitzero"`
	Project  string       `json:"project,omitzero"`
	Branch   string       `json:"branch,omitzero"`
	Model    string       `json:"model,omitzero"`
	State    string       `json:"final_state,omitzero"`
	Duration *int64       `json:"duration_ms,omitzero"`
	Files    *int         `json:"files,omitzero"`
	Calls    *int         `json:"calls,omitzero"`
	AtLeast  []string     `json:"at_least,omitzero"` // members that are lower bounds
	AtMost   []string     `json:"at_most,omitzero"`  // members that are upper bounds
	Verdict  string       `json:"verdict"`           // verified, refuted, undecided, or intact if no signature was checked
	Code     receipt.Code `json:"code,omitzero"`

	number       int // in the order in which receipts were found, from 0
	at           time.Time
	took         string
	files, calls headline.Count
	foreign      string // source of a third-party receipt, whose ID may be that of the receipt that it is about
}

// rowOfReport returns the row for a receipt, based on the part of its text that can be read.
func rowOfReport(rep *receipt.Report, text []byte) *listed {
	r := &listed{ID: rep.ReceiptID.String(), Source: rep.Address(), Verdict: print.Word(rep), Code: rep.Finding().Code, took: "-"}
	if read := rep.Check(receipt.StepParse); read.Status == receipt.StatusPassed && read.Stated != "" {
		r.foreign = r.Source
	}
	doc := new(canon.Document)
	if doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}) != nil {
		return r
	}

	h := headline.Read(doc.Root())
	o := h.Origin()
	r.Title, r.Project, r.Branch, r.Model = o.Title(), o.Project(), o.Branch(), h.Model()
	if state := doc.Root().Member("lifecycle").Member("final_state"); !h.Hidden(state) {
		r.State = state.String()
	}
	start, end := o.Times()
	r.at = o.Began()
	r.Started, r.Issued = stamp(start), stamp(o.Issued())
	if !start.IsZero() && !end.IsZero() && !end.Before(start) {
		ms := end.Sub(start).Milliseconds()
		r.Duration, r.took = &ms, strings.ReplaceAll(strings.ReplaceAll(headline.Elapsed(start, end), "min", "m"), " ", "")
	}
	if !doc.Root().Member("side_effects").IsZero() { // otherwise, the document states no numbers
		r.files, r.calls = h.Files(), h.Calls()
	}
	r.Files, r.Calls = r.counted("files", r.files), r.counted("calls", r.calls)
	return r
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return receipt.At(t).String()
}

// counted returns a number, or nil if it was not recorded. If the number is a bound, counted also
// records its name in r.AtLeast or r.AtMost.
func (r *listed) counted(name string, c headline.Count) *int {
	if !c.Recorded {
		return nil
	}
	if c.AtLeast {
		r.AtLeast = append(r.AtLeast, name)
	}
	if c.Most {
		r.AtMost = append(r.AtMost, name)
	}
	return &c.N
}

// tableOf formats rows in columns that fit a terminal, if the width of the terminal is known. If
// there is not enough room, branches are omitted and long names are truncated.
func tableOf(list []*listed, width int, now time.Time) string {
	const project, branch, model = 2, 3, 4
	rows := [][]string{{"ID", "WHEN", "PROJECT", "BRANCH", "MODEL", "TOOK", "FILES", "CALLS", "VERDICT"}}
	for _, r := range list {
		rows = append(rows, []string{cmp.Or(r.foreign, r.Short, r.Source), when(r.at, now), r.Project, r.Branch, r.Model, r.took, r.files.String(), r.calls.String(), r.Verdict})
	}

	most := []int{24, 12, 24, 24, 24, 12, 8, 8, 9}
	widths := make([]int, len(most))
	for _, cells := range rows {
		for i, text := range cells {
			cells[i] = cmp.Or(cli.Fit(cli.EscapeLine(text), most[i]), "-")
			widths[i] = max(widths[i], cli.Columns(cells[i]))
		}
	}
	narrow(widths, width, project, branch, model)

	var b strings.Builder
	for _, cells := range rows {
		line := ""
		for i, text := range cells {
			if widths[i] > 0 {
				text = cli.Fit(text, widths[i])
				line += text + strings.Repeat(" ", widths[i]-cli.Columns(text)+2)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// reasonsOf formats a line with the address and the code of each of the first receipts that are
// refuted or undecided, after a blank line.
func reasonsOf(list []*listed) string {
	var b strings.Builder
	list = slices.DeleteFunc(slices.Clone(list), func(r *listed) bool { return r.Code == "" })
	for i, r := range list {
		if i == maxReasons {
			fmt.Fprintf(&b, "and %s more\n", cli.Count(len(list)-i))
			break
		}
		fmt.Fprintf(&b, "%s: %s, %s\n", cli.EscapeLine(r.Source), r.Verdict, r.Code)
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// maxReasons is the maximum number of receipts whose codes the table lists.
const maxReasons = 20

// narrow reduces the widths of names until a line fits. A width of 0 omits the column of branches.
func narrow(widths []int, width, project, branch, model int) {
	const least = 7
	line := func() (n int) {
		for _, w := range widths {
			if w > 0 {
				n += w + 2
			}
		}
		return n - 2
	}
	if width > 0 && line() > width {
		widths[branch] = min(widths[branch], 12)
	}
	if width > 0 && line() > width {
		widths[branch] = 0
	}
	for width > 0 && line() > width && max(widths[project], widths[model]) > least {
		if widths[project] > widths[model] {
			widths[project]--
		} else {
			widths[model]--
		}
	}
}

// when formats a time as ls does, without the year if the time is recent.
func when(t, now time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case now.Sub(t) < 180*24*time.Hour && !t.After(now):
		return t.UTC().Format("Jan _2 15:04")
	}
	return t.UTC().Format(time.DateOnly)
}
