// Command receipt-wasm is the core of the verification page, for a browser or for Node.js. It
// contains the same packages as the command "receipt", compiled to WebAssembly.
//
// It sets globalThis.receiptCore, whose methods return promises:
//
//	tool                                         the name of this program in summaries
//	recognize(head, whole)                       the kind of a file: the JSON text of kind.Found
//	verify(inputs, keys, beside, options, sink)  null when done
//	fitting(input, index, beside)                the indexes of the files that belong to the receipt, an Array
//	open(input, index)                           {source, headline, canonical, preimage, hash, shell, targets}
//	tamper(source, pointer)                      {source, target}
//
// An input is {name, size, read(offset, length)}. The read function returns a promise for a
// Uint8Array. Files of any size can therefore be read in parts. A key file is {name, bytes}, and an
// evidence file is {name, kind, bytes}. The options argument is an options value, encoded as JSON.
// A sink has the methods of a [sink], which receive Uint8Arrays. Errors are of class Error, with a
// message for the user.
//
// The command then calls globalThis.receiptReady, and waits for calls until the program is stopped.
//
// All code except the JavaScript interface can be built for any system, and is tested there.
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
	"github.com/receiptkit/receiptkit/internal/aggregate"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A request specifies what to verify. If there are no key files, only integrity is checked, and the
// reports state this.
type request struct {
	Sources []stream.Source
	Keys    []keyFile
	Beside  []besideFile
	Options options
	Clock   func() time.Time
	Tool    string // name of this program in the summary
}

// options contains the choices on the page, encoded as JSON.
type options struct {
	IntegrityOnly bool   `json:"integrity_only"` // even if there are keys
	Issuer        string `json:"issuer"`         // required issuer.id; "": any
	At            string `json:"at"`             // RFC 3339, time at which keys are judged; "": issued_at
	Partial       bool   `json:"partial"`        // the input is a selection, so absent predecessors are not breaks
	Unordered     bool   `json:"unordered"`      // inputs are not in the order of their chains
}

// policy returns the policy that the options specify.
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

// Limits for results that are passed on in addition to the report lines.
const (
	maxFindings = 10_000    // number of reports that are not verified; further reports are counted but not listed
	chunkBytes  = 256 << 10 // number of bytes after which lines are passed on
)

// A sink receives results as they become available. All strings are JSON and are valid only during
// the call.
type sink interface {
	Keys(text []byte)      // a keyReport or null; called once, before all other results
	Lines(text []byte)     // complete lines of the NDJSON report, including the summary
	Finding(text []byte)   // a report that is not verified; called only for the first maxFindings
	Summary(text []byte)   // once
	Aggregate(text []byte) // called once, after the summary
}

// verify runs a request. It returns an error if the request could not run as specified. Inputs that
// could not be read are listed in the summary.
func verify(ctx context.Context, r *request, out sink) error {
	started := r.Clock()
	policy, err := r.policy(started)
	if err != nil {
		return err
	}

	// Integrity checks need no keys, so no keys are reported.
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

	// The page displays the keys before the first report.
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

	// An interrupted run also has a summary, which states that the run is incomplete.
	sum, err := run.Summary()
	if incomplete := (*stream.IncompleteError)(nil); err != nil && !errors.As(err, &incomplete) {
		return err
	}
	sum.Findings = append(slices.Clip(sum.Findings), ev.findings...)
	sum.Keys, sum.Tool, sum.Started, sum.Finished = given.summaryKeys(), r.Tool, receipt.At(started), receipt.At(r.Clock())
	return p.end(sum)
}

// A printer passes reports to a sink.
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

	// The lines are passed on before the finding, so that a reader never counts more findings than
	// receipts.
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

// add adds a receipt to the aggregate. The sums include only receipts that match their stated hash.
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

	// If there is only one receipt, its own report lists the missing checks.
	shown := *sum
	if sum.Receipts+sum.Copies > 1 {
		shown.NotChecked = headline.Notes(sum)
	}
	if text, err = receipt.AppendJSON(nil, &shown); err != nil {
		return err
	}
	p.sink.Summary(text)
	p.sink.Aggregate(sums)
	return nil
}

// recognize returns the kind of a file based on its first bytes. The argument whole reports whether
// head contains the entire file. If a file is compressed with gzip, the kind is the kind of its
// content. An attestation contains a receipt and is verified with it, so it is not a separate kind
// here.
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

	// Even truncated data reveals the beginning of the content.
	inner, err := io.ReadAll(io.LimitReader(packed, kind.Head))
	found := kind.Of(inner, false)
	if err == nil && whole && len(inner) < kind.Head {
		found = kind.Of(inner, true)
	}
	if found.Kind.Beside() { // evidence must not be compressed
		found.Kind, found.Next = kind.Packed, "unpack the file first: only receipts can be read compressed"
	}
	return found
}
