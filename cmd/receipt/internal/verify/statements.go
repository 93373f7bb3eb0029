package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/statement"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// statementFlags specifies the statements of streams, and the requirements for them.
type statementFlags struct {
	path      string
	heartbeat time.Duration
	closed    bool
	dated     bool                              // the policy requires timestamps
	stamps    map[canon.Digest]*trust.Timestamp // of statements

	keys     receipt.Trust
	streams  map[chain.Stream][]*statement.Signed
	seen     observer
	findings []stream.Finding // lines that are not statements
	notes    []receipt.Note
}

func (f *statementFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "statements", "", "statements of the streams (`FILE`)")
	flags.DurationVar(&f.heartbeat, "heartbeat", 0, "maximum time between statements (`DURATION`)")
	flags.BoolVar(&f.closed, "closed", false, "require a statement that ends each stream")
}

// apply reads the statements. A complete input must contain the receipts whose hashes are the heads
// in the statements.
func (f *statementFlags) apply(e *cli.Env, file *trust.KeyFile, whole bool, o *stream.Options) error {
	if f.path == "" {
		if len(f.stamps) > 0 {
			return cli.Usage("", "a --timestamp of a statement needs --statements FILE")
		}
		if f.heartbeat != 0 || f.closed {
			return cli.Usage("create statements with receipt ledger heartbeat and receipt ledger close", "--heartbeat and --closed need --statements FILE")
		}
		return nil
	}
	switch {
	case file == nil:
		return cli.Usage("", "--integrity-only checks no signatures, so it excludes --statements")
	case f.heartbeat < 0:
		return cli.Usage("", "--heartbeat must be positive, found %v", f.heartbeat)
	}

	data, err := input.ReadBounded(e, f.path, maxStatements)
	if err != nil {
		return err
	}
	f.keys = file.Set
	f.streams = statement.ByStream(statement.ParseFile(data, f.fault))

	f.seen.watch(f.streams)

	// If the input does not contain a stated head, it was truncated or belongs to another chain.
	for s, list := range f.streams {
		last := statement.Last(f.keys, list)
		if _, given := o.Continuity.Expect[s]; given || last == nil || last.Count == 0 || o.Partial || !whole {
			continue
		}
		if o.Continuity.Expect == nil {
			o.Continuity.Expect = map[chain.Stream]chain.Head{}
		}
		o.Continuity.Expect[s] = chain.Head{Hash: last.Head}
	}
	return nil
}

// maxStatements is the maximum size of a file of statements, in bytes.
const maxStatements = 64 << 20

func (f *statementFlags) fault(line int, err error) {
	source := fmt.Sprintf("%s:%d", cli.SourceName(f.path), line)
	if errors.Is(err, statement.ErrSchema) {
		f.notes = append(f.notes, receipt.Note{Code: receipt.CodeStatementUnsupported, Detail: fmt.Sprintf("%s: %v", source, err)})
		return
	}
	f.findings = append(f.findings, stream.Finding{Code: receipt.CodeStatementMalformed, Source: source, Detail: err.Error()})
}

// judge adds the results for the statements to the summary.
func (f *statementFlags) judge(v *receipt.Verifier, sum *stream.Summary, now time.Time) {
	if f.path == "" {
		return
	}
	sum.Findings = append(slices.Clip(sum.Findings), f.findings...)
	sum.NotChecked = append(slices.Clip(sum.NotChecked), f.notes...)

	all := maps.Clone(f.streams)
	for _, g := range sum.Streams {
		all[g.Stream] = f.streams[g.Stream]
	}
	req := statement.Requirements{Closed: f.closed, Heartbeat: f.heartbeat, Tolerance: trust.ClockTolerance, Now: now, Dated: f.dated, Existed: f.existed(sum)}
	open := ""
	for _, s := range slices.SortedFunc(maps.Keys(all), chain.Stream.Compare) {
		r := statement.Judge(f.keys, all[s], f.seen.stream(v, sum, s), req)
		if f.add(sum, s, r); open == "" && r.Bounded != "" {
			open = fmt.Sprintf("stream %s: %s", input.StreamText(s), r.Bounded)
		}
	}

	// Levels apply only to authentic receipts, so the verdict on the receipts comes first.
	if sum.Verdict() != receipt.Verified {
		open = "not all receipts and statements are verified"
	}
	sum.Levels = []stream.Level{{Number: 1, Met: open == "", Detail: open}, f.seen.anchored(v, sum, open)}
}

// existed returns the times before which the statements existed. A timestamp that matches none of
// the statements shows nothing about them.
func (f *statementFlags) existed(sum *stream.Summary) map[canon.Digest]time.Time {
	given, times := map[canon.Digest]bool{}, map[canon.Digest]time.Time{}
	for _, list := range f.streams {
		for _, s := range list {
			given[s.Digest] = true
		}
	}
	for digest, t := range f.stamps {
		if times[digest] = t.Time.Time; !given[digest] {
			sum.NotChecked = append(sum.NotChecked, receipt.Note{Code: receipt.CodeEvidenceUnused, Detail: fmt.Sprintf("timestamp %q matches no statement", t.Path)})
		}
	}
	return times
}

// add adds the result for one stream. If the run itself has reported a head as missing, add does
// not report it again.
func (f *statementFlags) add(sum *stream.Summary, s chain.Stream, r *statement.Result) {
	heads := []receipt.Code{receipt.CodeTruncated, receipt.CodeHeadMismatch}
	known := slices.ContainsFunc(sum.Findings, func(g stream.Finding) bool {
		return slices.Contains(heads, g.Code) && g.Stream != nil && *g.Stream == s
	})
	for _, g := range r.Findings {
		detail := fmt.Sprintf("stream %s: %s", input.StreamText(s), g.Detail)
		switch {
		case known && slices.Contains(heads, g.Code):
		case g.Refute:
			sum.Findings = append(sum.Findings, stream.Finding{Code: g.Code, Stream: &s, Source: cli.SourceName(f.path), Detail: detail})
		default:
			sum.NotChecked = append(sum.NotChecked, receipt.Note{Code: g.Code, Detail: detail})
		}
	}
}
