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

// OutputFlags specifies what is printed, and where.
type OutputFlags struct {
	format     string
	reports    []string
	only       string // which receipts the reports list
	limit      int
	quiet      bool
	force      bool
	progressed string

	Signed string // describes the checkpoint if its log signed it; printed next to the keys
}

// A format is an output format for results.
type format struct {
	name      string // name for --format; "" if the format is not for stdout
	extension string // extension of a file of --report; "" if the format is not for files
	about     string // describes the extension, if necessary

	lists   bool // lists every receipt, unless --report-only selects some
	digests bool // contains the digests of inputs
	rows    bool // has rows with values that receipts state

	new func(io.Writer) printer // nil for the text format
}

// formats returns all formats. Flags, their completion, and printers are derived from this table.
func formats() []format {
	return []format{
		{name: "text"},
		{name: "json", extension: ".json", lists: true, digests: true, new: func(w io.Writer) printer { return NewJSONPrinter(w) }},
		{name: "ndjson", extension: ".ndjson", lists: true, digests: true, new: func(w io.Writer) printer { return &ndjsonPrinter{NewJSONWriter(w)} }},
		{extension: ".csv", about: "a table", lists: true, rows: true, new: func(w io.Writer) printer { return newTablePrinter(w) }},
		{name: "junit", extension: ".xml", about: "JUnit", new: func(w io.Writer) printer { return &junitPrinter{w: w} }},
		{name: "sarif", extension: ".sarif", new: func(w io.Writer) printer { return &sarifPrinter{w: w} }},
		{name: "codequality", new: func(w io.Writer) printer { return &qualityPrinter{w: w} }},
		{name: "markdown", extension: ".md", new: func(w io.Writer) printer { return &markdownPrinter{w: w} }},
		{name: "github", new: func(w io.Writer) printer { return newGithubPrinter(w) }},
		{extension: ".html", about: "to read and print", new: func(w io.Writer) printer { return &htmlPrinter{w: w} }},
	}
}

// formatNames returns the values of --format.
func formatNames() (names []string) {
	for _, f := range formats() {
		if f.name != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// extensions returns the extensions of files of --report, with descriptions if described is
// set.
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

// formatOf returns the format of a file of --report, or the zero format if the extension is
// unknown.
func formatOf(path string) format {
	for _, f := range formats() {
		if f.extension != "" && f.extension == Extension(path) {
			return f
		}
	}
	return format{}
}

func selections() []string { return []string{"all", "failures", "summary"} }

// Register adds the flags to a command.
func (o *OutputFlags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "text", "output format: "+cli.OrList(formatNames())+" (`FORMAT`)")
	f.StringArrayVar(&o.reports, "report", nil, "additional report: "+cli.OrList(extensions(true))+"; repeatable (`FILE`)")
	f.StringVar(&o.only, "report-only", "all", "receipts that reports list: all, failures, or summary (none) (`WHICH`)")
	f.BoolVarP(&o.force, "force", "f", false, "overwrite reports")
	f.IntVar(&o.limit, "limit", 20, "maximum refuted receipts per code, and unread inputs, to print (`N`)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no results; only set the exit code")
	f.StringVar(&o.progressed, "progress", "auto", "show progress: auto, always, or never (`WHEN`)")
	cli.Choices(f, "format", formatNames()...)
	cli.Choices(f, "report-only", selections()...)
}

// Unread prints why n inputs were not read. It prints the reasons up to the limit, followed by the
// number of inputs without a printed reason.
func (o *OutputFlags) Unread(e *cli.Env, n int, why func(i int) error) {
	for i := range min(n, o.limit) {
		cli.Tell(e, why(i))
	}
	if more := n - o.limit; more > 0 {
		cli.Tell(e, cli.Usage("list all of them with --report FILE.json, or print more with --limit", "%s not read", cli.Plural(more, "more input", "")))
	}
}

// Check rejects invalid values and contradictory flags.
func (o *OutputFlags) Check() error {
	switch {
	case o.limit < 0:
		return cli.Usage("", "--limit must be 0 or more, found %d", o.limit)
	case !slices.Contains(formatNames(), o.format):
		return cli.Usage("", "--format must be %s, found %q", cli.OrList(formatNames()), o.format)
	case o.quiet && o.format != "text":
		return cli.Usage("", "--quiet prints no results, so it excludes --format %s", o.format)
	case !slices.Contains(selections(), o.only):
		return cli.Usage("", "--report-only must be %s, found %q", cli.OrList(selections()), o.only)
	case o.only != "all" && !o.writes(func(f format) bool { return f.lists }):
		return cli.Usage("use --report FILE.json or --format json", "--report-only selects the receipts in reports, but no report lists receipts")
	case !slices.Contains([]string{"auto", "always", "never"}, o.progressed):
		return cli.Usage("", "--progress must be auto, always, or never, found %q", o.progressed)
	}

	// Two reports in the same file would overwrite each other.
	for i, path := range o.reports {
		if formatOf(path).extension == "" {
			return cli.Usage(otherTable(path), "--report must end in %s, found %q", cli.OrList(extensions(false)), path)
		}
		same := func(other string) bool { return filepath.Clean(other) == filepath.Clean(path) }
		if slices.ContainsFunc(o.reports[:i], same) {
			return cli.Usage("", "--report names %q twice", path)
		}
	}

	return nil
}

// otherTable returns a hint for writing a table in an unsupported format.
func otherTable(path string) string {
	if Extension(path) == ".parquet" {
		return "write a .csv report and convert it, as docs/sql.md describes"
	}
	return ""
}

// writes reports whether the format of stdout, or of a file of --report, has a property.
func (o *OutputFlags) writes(such func(format) bool) bool {
	return such(o.stdout()) || slices.ContainsFunc(o.reports, func(path string) bool { return such(formatOf(path)) })
}

// TellsDigests reports whether the output contains digests of inputs.
func (o *OutputFlags) TellsDigests() bool {
	return o.only != "summary" && o.writes(func(f format) bool { return f.digests })
}

// TellsRows reports whether the output contains a table with values that receipts state.
func (o *OutputFlags) TellsRows() bool {
	return o.only != "summary" && o.writes(func(f format) bool { return f.rows })
}

// stdout returns the format of stdout.
func (o *OutputFlags) stdout() format {
	list := formats()
	return list[max(slices.IndexFunc(list, func(f format) bool { return f.name == o.format }), 0)]
}

// Extension returns the extension of a path in lowercase, with its dot.
func Extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// A printer writes the results of a run in one format.
type printer interface {
	// Report writes one report; text is the JSON of the receipt.
	Report(rep *receipt.Report, text []byte) error
	End(*stream.Summary) error
}

// Printers writes to stdout and to the files of --report.
type Printers struct {
	list  []printer // the first printer is for stdout
	files []*cli.File
	out   *gatherer // buffers stdout, for formats that programs read
}

func (p Printers) Report(rep *receipt.Report, text []byte) error {
	for _, out := range p.list {
		if err := out.Report(rep, text); err != nil {
			return err
		}
	}
	return nil
}

// End ends the output of all printers. If a run verified nothing, its files are not created,
// because they would prevent the next run from creating them.
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

// Interrupted writes the output that was held for stdout, after a run has failed.
func (p Printers) Interrupted() {
	if out, ok := p.list[0].(interface{ Interrupted() error }); ok {
		_ = out.Interrupted() // the run has already failed
	}
}

// Discard removes incomplete files, and waits until all output has been written to stdout.
func (p Printers) Discard() {
	for _, f := range p.files {
		f.Discard()
	}
	_ = p.out.Flush() // if the run did not fail, End has already reported the error
}

// Printers opens stdout and the files of --report. The caller must call either End or Discard.
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

// selected returns a printer for the receipts that --report-only selects. The summary counts all
// receipts.
func (o *OutputFlags) selected(f format, w io.Writer) printer {
	p := f.new(w)
	if o.only == "all" || !f.lists {
		return p
	}
	return &selectedPrinter{p, o.only == "failures"}
}

// A selectedPrinter omits either all verified receipts or all receipts.
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

// Progress shows the progress of a run on stderr, unless --quiet is set.
func (o *OutputFlags) Progress(e *cli.Env, passes ...string) *cli.Progress {
	when := o.progressed
	if o.quiet && when == "auto" {
		when = "never"
	}
	return e.ProgressWhen(when, passes...)
}
