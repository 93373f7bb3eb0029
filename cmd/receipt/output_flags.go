package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// outputFlags say what is printed where.
type outputFlags struct {
	format     string
	reports    []string
	limit      int
	quiet      bool
	force      bool
	progressed string
}

func formats() []string { return []string{"text", "json", "ndjson", "junit", "github"} }

func (o *outputFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "text", "print a `FORMAT`: text, json, ndjson, junit or github")
	f.StringArrayVar(&o.reports, "report", nil, "write a report to `FILE` too: .json, .ndjson, .csv, .xml (JUnit) or .html (to read and print); repeatable")
	f.BoolVar(&o.force, "force", false, "overwrite the files of --report")
	f.IntVar(&o.limit, "limit", 20, "print at most `N` refuted receipts for each code")
	f.BoolVar(&o.quiet, "quiet", false, "print no results; the exit code tells")
	f.StringVar(&o.progressed, "progress", "auto", "show how far it is: `WHEN` auto (on a terminal), always or never")
}

// check refuses flags that contradict each other or make no sense.
func (o *outputFlags) check() error {
	switch {
	case o.limit < 0:
		return usage("", "--limit is 0 or more, found %d", o.limit)
	case !slices.Contains(formats(), o.format):
		return usage("", "--format is text, json, ndjson, junit or github, found %q", o.format)
	case o.quiet && o.format != "text":
		return usage("", "--quiet prints no results, so it excludes --format %s", o.format)
	case !slices.Contains([]string{"auto", "always", "never"}, o.progressed):
		return usage("", "--progress is auto, always or never, found %q", o.progressed)
	}
	for i, path := range o.reports {
		if !slices.Contains([]string{".json", ".ndjson", ".csv", ".xml", ".html"}, extension(path)) {
			return usage("", "--report writes .json, .ndjson, .csv, .xml or .html, found %q", path)
		}
		same := func(other string) bool { return filepath.Clean(other) == filepath.Clean(path) }
		if slices.ContainsFunc(o.reports[:i], same) {
			return usage("", "--report names %q twice", path)
		}
	}
	return nil
}

// tellsDigests reports whether anything that is written has the digests of inputs.
func (o *outputFlags) tellsDigests() bool {
	return len(o.reports) > 0 || o.format == "json" || o.format == "ndjson"
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// A printer writes the results of a run.
type printer interface {
	// report writes one report; text is the receipt as JSON.
	report(rep *receipt.Report, text []byte) error
	end(*stream.Summary) error
}

// printers are stdout and the files of --report.
type printers struct {
	list  []printer
	files []*reportFile
}

func (p printers) report(rep *receipt.Report, text []byte) error {
	for _, out := range p.list {
		if err := out.report(rep, text); err != nil {
			return err
		}
	}
	return nil
}

// end finishes all of them. Files appear when they are whole, and when anything
// was judged: of a run that found nothing to judge none would be in the way when
// it is tried again.
func (p printers) end(s *stream.Summary) error {
	if s.Receipts == 0 && summaryExit(s) == exitUsage {
		return p.list[0].end(s)
	}
	for _, out := range p.list[1:] {
		if err := out.end(s); err != nil {
			return err
		}
	}
	for _, f := range p.files {
		if err := f.commit(); err != nil {
			return err
		}
	}
	return p.list[0].end(s)
}

// interrupted writes what stdout has held back, when there will be no end.
func (p printers) interrupted() {
	if out, ok := p.list[0].(interface{ interrupted() error }); ok {
		_ = out.interrupted() // the run has failed already
	}
}

// discard removes the files that did not become whole.
func (p printers) discard() {
	for _, f := range p.files {
		f.discard()
	}
}

func (o *outputFlags) printers(e *env, file *keyFile, selected *selection) (p printers, err error) {
	p.list = []printer{o.stdout(e, file, selected)}
	for _, path := range o.reports {
		if selected.has(path) {
			p.discard()
			return p, usage("", "--report %q would overwrite an input", path)
		}
		f, err := newReportFile(path, o.force)
		if err != nil {
			p.discard()
			return p, err
		}
		p.files = append(p.files, f)
		p.list = append(p.list, reportPrinter(extension(path), f))
	}
	return p, nil
}

func (o *outputFlags) stdout(e *env, file *keyFile, selected *selection) printer {
	switch {
	case o.quiet:
		return quietPrinter{}
	case o.format == "json":
		return &jsonPrinter{jsonWriter: jsonWriter{w: e.out}}
	case o.format == "ndjson":
		return &ndjsonPrinter{jsonWriter: jsonWriter{w: e.out}}
	case o.format == "junit":
		return &junitPrinter{w: e.out}
	case o.format == "github":
		return newGithubPrinter(e.out)
	}
	return newListPrinter(e, o, file, selected)
}

func reportPrinter(extension string, f *reportFile) printer {
	switch extension {
	case ".json":
		return &jsonPrinter{jsonWriter: jsonWriter{w: f}}
	case ".ndjson":
		return &ndjsonPrinter{jsonWriter: jsonWriter{w: f}}
	case ".csv":
		return newCSVPrinter(f)
	case ".html":
		return &htmlPrinter{w: f}
	}
	return &junitPrinter{w: f}
}

type quietPrinter struct{}

func (quietPrinter) report(*receipt.Report, []byte) error { return nil }
func (quietPrinter) end(*stream.Summary) error            { return nil }
