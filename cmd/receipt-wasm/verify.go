// Command receipt-wasm is the core of the verification page, for a browser or for
// node: the same packages as the command receipt, as WebAssembly.
//
// It sets globalThis.receiptCore, whose methods return promises:
//
//	tool                                         what the summary calls this program
//	recognize(head, whole)                       what a file is: the JSON text of kind.Found
//	verify(inputs, keys, beside, options, sink)  null when done
//	fitting(input, index, beside)                places of those that are of it, an Array
//	open(input, index)                           {source, headline, canonical, preimage, hash, shell, targets}
//	tamper(source, pointer)                      {source, target}
//
// An input is {name, size, read(offset, length)}, where read returns a promise of
// a Uint8Array; so a file of any size is read piece by piece. A key file is
// {name, bytes}, a file beside receipts {name, kind, bytes}. The options are the JSON text
// of an options, and a sink has the methods of a [sink], which get Uint8Arrays. Errors are of
// class Error, for a person.
//
// It then calls globalThis.receiptReady, and waits for calls forever.
//
// Everything that is not JavaScript is built for any system, and tested there.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/attest"
	"github.com/receiptkit/receiptkit/receipt/headline"
	"github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/receipt/serve/aggregate"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A request is what somebody wants verified. Without key files only integrity is
// asked for, and the reports say so.
type request struct {
	Sources []stream.Source
	Keys    []keyFile
	Beside  []besideFile
	Options options
	Clock   func() time.Time
	Tool    string // what the summary calls this program
}

// options are the choices of the page, as it writes them in JSON.
type options struct {
	IntegrityOnly bool   `json:"integrity_only"` // whatever keys there are
	Issuer        string `json:"issuer"`         // issuer.id that receipts must have; "": any
	At            string `json:"at"`             // RFC 3339, when keys are judged; "": at issued_at
	Partial       bool   `json:"partial"`        // the input is a selection: absent predecessors are not breaks
	Unordered     bool   `json:"unordered"`      // inputs are not in the order of their chains
}

// policy makes the policy of the options.
func (r *request) policy(now time.Time) (receipt.Policy, error) {
	p := receipt.Policy{Now: now, IntegrityOnly: r.integrityOnly()}
	if !p.IntegrityOnly {
		p.Issuer = r.Options.Issuer
	}
	if r.Options.At == "" {
		return p, nil
	}
	at, err := receipt.ParseTime(r.Options.At)
	if err != nil {
		return p, fmt.Errorf("the time at which keys are judged: %w", err)
	}
	p.At = at
	return p, nil
}

func (r *request) integrityOnly() bool { return r.Options.IntegrityOnly || len(r.Keys) == 0 }

// Bounds of what is handed out beside the lines.
const (
	maxFindings = 10_000    // reports that are not verified; more are counted
	chunkBytes  = 256 << 10 // lines are handed out together
)

// A sink takes results as they come. All texts are JSON, valid during the call.
type sink interface {
	Keys(text []byte)      // a keyReport, or null; once, before all else
	Lines(text []byte)     // whole lines of the NDJSON report, the summary's too
	Finding(text []byte)   // a report that is not verified, of the first maxFindings
	Summary(text []byte)   // once
	Aggregate(text []byte) // once, after the summary
}

// verify runs a request. The error says that it could not be run as asked; what
// could not be read of the input is in the summary.
func verify(ctx context.Context, r *request, out sink) error {
	started := r.Clock()
	policy, err := r.policy(started)
	if err != nil {
		return err
	}

	// Integrity needs no keys, and then none are shown.
	var given *keyReport
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
	out.Keys(text)

	p := &printer{sink: out}
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
	sink     sink
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
	found := rep.Verdict != receipt.Verified && p.findings < maxFindings
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

// recognize tells by its first bytes what somebody dropped; whole says that these are
// all. A file that gzip compressed is told by what is in it. An attestation holds a receipt,
// and is judged with it.
func recognize(head []byte, whole bool) kind.Found {
	found := recognizePlain(head, whole)
	if found.Kind == kind.Attestation {
		return kind.Found{}
	}
	return found
}

func recognizePlain(head []byte, whole bool) kind.Found {
	packed, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return kind.Of(head, whole)
	}

	// Of a part that breaks off, what came before is still its beginning.
	inner, err := io.ReadAll(io.LimitReader(packed, kind.Head))
	found := kind.Of(inner, false)
	if err == nil && whole && len(inner) < kind.Head {
		found = kind.Of(inner, true)
	}
	if found.Kind.Beside() { // evidence is read as it is
		found.Kind, found.Next = kind.Packed, "unpack it first: only receipts are read compressed"
	}
	return found
}
