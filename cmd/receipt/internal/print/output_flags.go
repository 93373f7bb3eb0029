package print

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// OutputFlags say what is printed where.
type OutputFlags struct {
	format     string
	reports    []string
	only       string // what reports list
	limit      int
	quiet      bool
	force      bool
	progressed string

	Signed string // the checkpoint that was given, when its log signed it: told beside the keys
}

// A format is one form of the results.
type format struct {
	name      string // of --format; "": stdout does not get it
	extension string // of a file of --report; "": no file gets it
	about     string // what the extension does not say

	lists   bool // it has every receipt, of which --report-only selects some
	digests bool // it has the digests of inputs
	rows    bool // its rows have what a receipt states

	new func(io.Writer) printer // nil: for a person
}

// formats are all of them: flags, completion and printers are made of this table.
func formats() []format {
	return []format{
		{name: "text"},
		{name: "json", extension: ".json", lists: true, digests: true, new: func(w io.Writer) printer { return NewJSONPrinter(w) }},
		{name: "ndjson", extension: ".ndjson", lists: true, digests: true, new: func(w io.Writer) printer { return &ndjsonPrinter{NewJSONWriter(w)} }},
		{extension: ".csv", about: "a table", lists: true, rows: true, new: func(w io.Writer) printer { return newTablePrinter(w) }},
		{name: "junit", extension: ".xml", about: "JUnit", new: func(w io.Writer) printer { return &junitPrinter{w: w} }},
		{name: "github", new: func(w io.Writer) printer { return newGithubPrinter(w) }},
		{extension: ".html", about: "to read and print", new: func(w io.Writer) printer { return &htmlPrinter{w: w} }},
	}
}

// formatNames are the values of --format.
func formatNames() (names []string) {
	for _, f := range formats() {
		if f.name != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// extensions are those of the files of --report, for a person also with what is in them.
func extensions(described bool) (list []string) {
	for _, f := range formats() {
		switch {
		case f.extension == "":
		case described && f.about != "":
			list = append(list, f.extension+" ("+f.about+")")
		default:
			list = append(list, f.extension)
		}
	}
	return list
}

// formatOf returns the format of a file of --report; zero for an extension that none has.
func formatOf(path string) format {
	for _, f := range formats() {
		if f.extension != "" && f.extension == Extension(path) {
			return f
		}
	}
	return format{}
}

func selections() []string { return []string{"all", "failures", "summary"} }

// Register adds the flags to those of a verb.
func (o *OutputFlags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "text", "print a `FORMAT`: "+cli.OrList(formatNames()))
	f.StringArrayVar(&o.reports, "report", nil, "write a report to `FILE` too: "+cli.OrList(extensions(true))+"; repeatable")
	f.StringVar(&o.only, "report-only", "all", "list in reports (.json, .ndjson, .csv, and --format json or ndjson) `WHICH` receipts: all, failures, or none: summary")
	f.BoolVarP(&o.force, "force", "f", false, "overwrite the files of --report")
	f.IntVar(&o.limit, "limit", 20, "print at most `N` refuted receipts for each code, and N inputs that were not read")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no results; the exit code tells")
	f.StringVar(&o.progressed, "progress", "auto", "show how far it is: `WHEN` auto (on a terminal), always or never")
	cli.Choices(f, "format", formatNames()...)
	cli.Choices(f, "report-only", selections()...)
}

// Unread tells of n inputs that were not read, as far as the limit goes, why, and how many
// more there are.
func (o *OutputFlags) Unread(e *cli.Env, n int, why func(i int) error) {
	for i := range min(n, o.limit) {
		cli.Tell(e, why(i))
	}
	if more := n - o.limit; more > 0 {
		cli.Tell(e, cli.Usage("--report FILE.json names all of them, and --limit prints more", "%s not read", cli.Plural(more, "more input", "")))
	}
}

// Check refuses flags that contradict each other or make no sense.
func (o *OutputFlags) Check() error {
	switch {
	case o.limit < 0:
		return cli.Usage("", "--limit is 0 or more, found %d", o.limit)
	case !slices.Contains(formatNames(), o.format):
		return cli.Usage("", "--format is %s, found %q", cli.OrList(formatNames()), o.format)
	case o.quiet && o.format != "text":
		return cli.Usage("", "--quiet prints no results, so it excludes --format %s", o.format)
	case !slices.Contains(selections(), o.only):
		return cli.Usage("", "--report-only is %s, found %q", cli.OrList(selections()), o.only)
	case o.only != "all" && !o.writes(func(f format) bool { return f.lists }):
		return cli.Usage("--report FILE.json or --format json lists receipts", "--report-only says what a report lists, and no report does")
	case !slices.Contains([]string{"auto", "always", "never"}, o.progressed):
		return cli.Usage("", "--progress is auto, always or never, found %q", o.progressed)
	}

	// Two reports in one file would destroy each other.
	for i, path := range o.reports {
		if formatOf(path).extension == "" {
			return cli.Usage(otherTable(path), "--report writes %s, found %q", cli.OrList(extensions(false)), path)
		}
		same := func(other string) bool { return filepath.Clean(other) == filepath.Clean(path) }
		if slices.ContainsFunc(o.reports[:i], same) {
			return cli.Usage("", "--report names %q twice", path)
		}
	}

	return nil
}

// otherTable returns what to do instead of writing a table in another format.
func otherTable(path string) string {
	if Extension(path) == ".parquet" {
		return "write a .csv report and convert it, as docs/sql.md describes"
	}
	return ""
}

// writes reports whether stdout or a file of --report gets such a format.
func (o *OutputFlags) writes(such func(format) bool) bool {
	return such(o.stdout()) || slices.ContainsFunc(o.reports, func(path string) bool { return such(formatOf(path)) })
}

// TellsDigests reports whether anything that is written has the digests of inputs.
func (o *OutputFlags) TellsDigests() bool {
	return o.only != "summary" && o.writes(func(f format) bool { return f.digests })
}

// TellsRows reports whether a table is written: its rows tell what a receipt states.
func (o *OutputFlags) TellsRows() bool {
	return o.only != "summary" && o.writes(func(f format) bool { return f.rows })
}

// stdout is the format of stdout.
func (o *OutputFlags) stdout() format {
	list := formats()
	return list[max(slices.IndexFunc(list, func(f format) bool { return f.name == o.format }), 0)]
}

// Extension is the extension of a path in lower case, with its point.
func Extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// A printer writes the results of a run.
type printer interface {
	// Report writes one report; text is the receipt as JSON.
	Report(rep *receipt.Report, text []byte) error
	End(*stream.Summary) error
}

// Printers are stdout and the files of --report.
type Printers struct {
	list  []printer // stdout is the first
	files []*cli.File
	out   *gatherer // before stdout, of what programs read
}

func (p Printers) Report(rep *receipt.Report, text []byte) error {
	for _, out := range p.list {
		if err := out.Report(rep, text); err != nil {
			return err
		}
	}
	return nil
}

// end finishes all of them. Files appear when they are whole, and when anything
// was judged: of a run that found nothing to judge none would be in the way when
// it is tried again.
func (p Printers) End(s *stream.Summary) error {
	if s.Receipts == 0 && cli.SummaryExit(s) == cli.ExitUsage {
		return p.endStdout(s)
	}
	for _, out := range p.list[1:] {
		if err := out.End(s); err != nil {
			return err
		}
	}
	for _, f := range p.files {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return p.endStdout(s)
}

func (p Printers) endStdout(s *stream.Summary) error {
	if err := p.list[0].End(s); err != nil {
		return err
	}
	return p.out.Flush()
}

// interrupted writes what stdout has held back, when there will be no end.
func (p Printers) Interrupted() {
	if out, ok := p.list[0].(interface{ Interrupted() error }); ok {
		_ = out.Interrupted() // the run has failed already
	}
}

// Discard removes the files that did not become whole, and waits until stdout has what was
// printed.
func (p Printers) Discard() {
	for _, f := range p.files {
		f.Discard()
	}
	_ = p.out.Flush() // of a run that did not fail, End has told
}

// Printers opens stdout and the files of --report. What is opened has to be committed or discarded.
func (o *OutputFlags) Printers(e *cli.Env, file *trust.KeyFile, selected *input.Selection) (p Printers, err error) {
	p.out = newGatherer(e.Out)
	switch f := o.stdout(); {
	case o.quiet:
		p.list = []printer{quietPrinter{}}
	case f.new == nil:
		p.list = []printer{newListPrinter(e, o, file, selected)}
	default:
		p.list = []printer{o.selected(f, p.out)}
	}

	for _, path := range o.reports {
		if selected.Has(path) {
			p.Discard()
			return p, cli.Usage("", "--report %q would overwrite an input", path)
		}
		f, err := cli.NewFile(path, 0o644, o.force)
		if err != nil {
			p.Discard()
			return p, err
		}
		p.files = append(p.files, f)
		p.list = append(p.list, o.selected(formatOf(path), f))
	}

	return p, nil
}

// selected is a printer that is given the receipts which --report-only names. The summary
// counts all of them.
func (o *OutputFlags) selected(f format, w io.Writer) printer {
	p := f.new(w)
	if o.only == "all" || !f.lists {
		return p
	}
	return &selectedPrinter{p, o.only == "failures"}
}

// A selectedPrinter leaves out what is verified, or everything.
type selectedPrinter struct {
	printer
	failures bool
}

func (p *selectedPrinter) Report(rep *receipt.Report, text []byte) error {
	if !p.failures || rep.Verdict == receipt.Verified {
		return nil
	}
	return p.printer.Report(rep, text)
}

type quietPrinter struct{}

func (quietPrinter) Report(*receipt.Report, []byte) error { return nil }
func (quietPrinter) End(*stream.Summary) error            { return nil }

// Progress shows on stderr how far a run is, unless it shall be quiet.
func (o *OutputFlags) Progress(e *cli.Env, passes ...string) *cli.Progress {
	when := o.progressed
	if o.quiet && when == "auto" {
		when = "never"
	}
	return e.ProgressWhen(when, passes...)
}
