package print

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print/gather"
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

func formats() []string { return []string{"text", "json", "ndjson", "junit", "github"} }

// Register adds the flags to those of a verb.
func (o *OutputFlags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "text", "print a `FORMAT`: text, json, ndjson, junit or github")
	f.StringArrayVar(&o.reports, "report", nil, "write a report to `FILE` too: .json, .ndjson, .csv (a table), .xml (JUnit) or .html (to read and print); repeatable")
	f.StringVar(&o.only, "report-only", "all", "list in reports (.json, .ndjson, .csv, and --format json or ndjson) `WHICH` receipts: all, failures, or none: summary")
	f.BoolVarP(&o.force, "force", "f", false, "overwrite the files of --report")
	f.IntVar(&o.limit, "limit", 20, "print at most `N` refuted receipts for each code, and N inputs that were not read")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no results; the exit code tells")
	f.StringVar(&o.progressed, "progress", "auto", "show how far it is: `WHEN` auto (on a terminal), always or never")
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
	case !slices.Contains(formats(), o.format):
		return cli.Usage("", "--format is text, json, ndjson, junit or github, found %q", o.format)
	case o.quiet && o.format != "text":
		return cli.Usage("", "--quiet prints no results, so it excludes --format %s", o.format)
	case !slices.Contains([]string{"all", "failures", "summary"}, o.only):
		return cli.Usage("", "--report-only is all, failures or summary, found %q", o.only)
	case o.only != "all" && !o.lists():
		return cli.Usage("--report FILE.json or --format json lists receipts", "--report-only says what a report lists, and no report does")
	case !slices.Contains([]string{"auto", "always", "never"}, o.progressed):
		return cli.Usage("", "--progress is auto, always or never, found %q", o.progressed)
	}

	// Two reports in one file would destroy each other.
	for i, path := range o.reports {
		if !slices.Contains([]string{".json", ".ndjson", ".csv", ".xml", ".html"}, Extension(path)) {
			return cli.Usage(otherTable(path), "--report writes .json, .ndjson, .csv, .xml or .html, found %q", path)
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

// lists reports whether anything that is written lists every receipt.
func (o *OutputFlags) lists() bool {
	bounded := func(path string) bool { return Extension(path) == ".xml" || Extension(path) == ".html" }
	return o.format == "json" || o.format == "ndjson" || slices.ContainsFunc(o.reports, func(path string) bool { return !bounded(path) })
}

// TellsDigests reports whether anything that is written has the digests of inputs:
// reports as JSON, if they list receipts.
func (o *OutputFlags) TellsDigests() bool {
	asJSON := func(path string) bool { return Extension(path) == ".json" || Extension(path) == ".ndjson" }
	return o.only != "summary" && (o.format == "json" || o.format == "ndjson" || slices.ContainsFunc(o.reports, asJSON))
}

// TellsRows reports whether a table is written: its rows tell what a receipt states.
func (o *OutputFlags) TellsRows() bool {
	table := func(path string) bool { return Extension(path) == ".csv" }
	return o.only != "summary" && slices.ContainsFunc(o.reports, table)
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
	out   *gather.Writer // before stdout, of what programs read
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
	p.out = gather.Before(e.Out)
	p.list = []printer{o.stdout(e, p.out, file, selected)}
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
		p.list = append(p.list, o.reportPrinter(Extension(path), f))
	}

	return p, nil
}

func (o *OutputFlags) stdout(e *cli.Env, out io.Writer, file *trust.KeyFile, selected *input.Selection) printer {
	switch {
	case o.quiet:
		return quietPrinter{}
	case o.format == "json":
		return o.listed(NewJSONPrinter(out))
	case o.format == "ndjson":
		return o.listed(&ndjsonPrinter{NewJSONWriter(out)})
	case o.format == "junit":
		return &junitPrinter{w: out}
	case o.format == "github":
		return newGithubPrinter(out)
	}
	return newListPrinter(e, o, file, selected)
}

func (o *OutputFlags) reportPrinter(extension string, f *cli.File) printer {
	switch extension {
	case ".json":
		return o.listed(NewJSONPrinter(f))
	case ".ndjson":
		return o.listed(&ndjsonPrinter{NewJSONWriter(f)})
	case ".csv":
		return o.listed(&tablePrinter{newCSVWriter(f)})
	case ".html":
		return &htmlPrinter{w: f}
	}
	return &junitPrinter{w: f}
}

// listed is a printer that is given the receipts which --report-only names. The summary
// counts all of them.
func (o *OutputFlags) listed(p printer) printer {
	if o.only == "all" {
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
