package core

import (
	"context"
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/attest"
	"github.com/receiptkit/receiptkit/receipt/headline"
	"github.com/receiptkit/receiptkit/receipt/serve/aggregate"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Bounds of what is handed out beside the lines.
const (
	MaxFindings = 10_000    // reports that are not verified; more are counted
	chunkBytes  = 256 << 10 // lines are handed out together
)

// A Sink takes results as they come. All texts are JSON, valid during the call.
type Sink interface {
	Keys(text []byte)      // a KeyReport, or null; once, before all else
	Lines(text []byte)     // whole lines of the NDJSON report, the summary's too
	Finding(text []byte)   // a report that is not verified, of the first MaxFindings
	Summary(text []byte)   // once
	Aggregate(text []byte) // once, after the summary
}

// Verify runs a request. The error says that it could not be run as asked; what
// could not be read of the input is in the summary.
func Verify(ctx context.Context, r *Request, sink Sink) error {
	started := r.Clock()
	policy, err := r.policy(started)
	if err != nil {
		return err
	}

	// Integrity needs no keys, and then none are shown.
	var given *KeyReport
	var trusted receipt.Trust
	if !policy.IntegrityOnly {
		if trusted, given, err = trust(r.Keys); err != nil {
			return err
		}
	}

	v, err := receipt.NewVerifier(trusted, policy)
	if err != nil {
		return err
	}

	ev, err := readEvidence(r.Beside)
	if err != nil {
		return err
	}
	o := stream.Options{Partial: r.Options.Partial, Unordered: r.Options.Unordered, Unwrap: attest.NewOpener(trusted, policy).Unwrap}
	if v, err = ev.apply(v, &o); err != nil {
		return err
	}

	// The page shows the keys before the first report.
	text, err := receipt.AppendJSON(nil, given)
	if err != nil {
		return err
	}
	sink.Keys(text)

	p := &printer{sink: sink}
	run := stream.VerifyFiles(ctx, v, r.Sources, o)
	for rep := range run.Reports() {
		if err := p.report(rep, run.Text()); err != nil {
			return err
		}
	}

	// A run that was cut off has a summary, too, which says so.
	sum, err := run.Summary()
	if incomplete := (*stream.IncompleteError)(nil); err != nil && !errors.As(err, &incomplete) {
		return err
	}
	sum.Findings = append(slices.Clip(sum.Findings), ev.findings...)
	sum.Keys, sum.Tool, sum.Started, sum.Finished = given.summaryKeys(), r.Tool, receipt.At(started), receipt.At(r.Clock())
	return p.end(sum)
}

// A printer hands reports to a sink.
type printer struct {
	sink     Sink
	lines    []byte
	findings int
	doc      canon.Document
	sums     aggregate.Aggregate
}

func (p *printer) report(rep *receipt.Report, text []byte) error {
	from := len(p.lines)
	var err error
	if p.lines, err = receipt.AppendJSON(p.lines, rep); err != nil {
		return err
	}

	p.lines = append(p.lines, '\n')
	p.add(rep, text)

	// A finding follows the lines up to its own: whoever counts both never counts more
	// findings than receipts.
	found := rep.Verdict != receipt.Verified && p.findings < MaxFindings
	line := p.lines[from : len(p.lines)-1]
	if found || len(p.lines) >= chunkBytes {
		p.flush()
	}
	if found {
		p.findings++
		p.sink.Finding(line)
	}

	return nil
}

// add adds a receipt to the sums, which look only at one that fits its hash.
func (p *printer) add(rep *receipt.Report, text []byte) {
	limits := canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}
	if text == nil || p.doc.Parse(text, limits) != nil {
		return
	}
	p.sums.Add(rep, p.doc.Root())
}

func (p *printer) flush() {
	p.sink.Lines(p.lines)
	p.lines = p.lines[:0]
}

func (p *printer) end(sum *stream.Summary) error {
	text, err := receipt.AppendJSON([]byte(`{"summary":`), sum)
	if err != nil {
		return err
	}
	sums, err := receipt.AppendJSON(nil, &p.sums)
	if err != nil {
		return err
	}
	p.lines = append(append(p.lines, text...), "}\n"...)
	p.flush()

	// The report of a receipt that is alone lists what it leaves unchecked.
	shown := *sum
	if sum.Receipts+sum.Copies > 1 {
		shown.NotChecked = slices.Concat(sum.NotChecked, headline.Unchecked(sum.Unchecked, sum.Withheld))
	}
	if text, err = receipt.AppendJSON(nil, &shown); err != nil {
		return err
	}
	p.sink.Summary(text)
	p.sink.Aggregate(sums)
	return nil
}
