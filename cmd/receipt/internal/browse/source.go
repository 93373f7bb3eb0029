package browse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// judge adds each receipt of an input to the view, and returns the summary.
func judge(ctx context.Context, e *cli.Env, path string, o *options, s *site) (*stream.Summary, error) {
	if input.IsReport(path) {
		return readReport(e, path, o, s)
	}

	verifier, file, err := o.Verifier(e)
	if err != nil {
		return nil, err
	}
	var damage ledger.Fault // as found while the ledger is read
	selected, note, done, err := open(ctx, e, path, o.ledger, &damage)
	if err != nil {
		return nil, err
	}
	defer done()

	progress := e.Progress(selected.Readings("verifying", false)...)
	defer progress.End()
	selected.Show(progress)
	started := e.Now()
	run := stream.VerifyFiles(ctx, verifier, selected.Sources, stream.Options{Extract: rows.Extract, Unwrap: opener(verifier, file).Unwrap})
	for rep := range run.Reports() {
		if err := s.add(rep, run.Text()); err != nil {
			return nil, err
		}
		progress.Receipts(1)
	}

	sum, err := run.Summary()
	if err := input.Fatal(err); err != nil {
		return nil, err
	}
	if selected.Entries < 0 && sum.Receipts == 0 && note.Detail == "" {
		return nil, input.EmptyLedger(e, path)
	}
	if damage.Code != "" {
		sum.Findings = append(sum.Findings, stream.Finding{Code: receipt.Code(damage.Code), Source: selected.Sources[0].Name, Detail: damage.Error(), Hint: "list the damage with receipt ledger fsck"})
		e.Note("%v; list the damage with receipt ledger fsck", &damage)
	}
	if note.Detail != "" {
		sum.NotChecked = append(sum.NotChecked, note)
	}
	sum.Tool, sum.Started, sum.Finished = cli.ToolName(), receipt.At(started), receipt.At(e.Now())
	if file != nil {
		sum.Keys = &stream.Keys{Path: file.Path, SHA256: file.SHA256, Count: file.Set.Len()}
	}
	return sum, nil
}

func opener(v *receipt.Verifier, file *trust.KeyFile) *attest.Opener {
	if file == nil {
		return attest.NewOpener(nil, v.Policy())
	}
	return attest.NewOpener(file.Set, v.Policy())
}

// open selects the receipts in a ledger, a directory, or a file. If stored is set, the input is a
// ledger. If receipts of the ledger were pruned, note states their number. If reading the ledger
// finds damage, reading ends, and *damage is set.
func open(ctx context.Context, e *cli.Env, path string, stored bool, damage *ledger.Fault) (s *input.Selection, note receipt.Note, done func(), err error) {
	if !stored && !input.IsLedger(e, path) {
		s, err = new(input.Flags).Selected(e, []string{path})
		return s, note, func() {}, err
	}

	l, err := input.OpenLedger(ctx, e, path, false)
	if err != nil {
		return nil, note, nil, err
	}
	pruned, err := ledger.CountPruned(ctx, l, ledger.Query{})
	if err != nil {
		l.Close()
		return nil, note, nil, cli.Usage(input.LedgerHint(err), "%w", err)
	}
	if pruned > 0 {
		note = receipt.Note{Code: receipt.CodeLinkNotChecked, Detail: fmt.Sprintf("%s in archives, and not listed here", cli.Plural(int(pruned), "pruned receipt", "is"))}
	}
	source := stream.Source{Name: input.LedgerName(path), Kind: stream.Lines, Open: func() (io.ReadCloser, error) { return lines(ctx, l, damage), nil }}
	return &input.Selection{Entries: -1, Sources: []stream.Source{source}}, note, func() { l.Close() }, nil
}

// lines returns the receipts of a ledger, one per line. It stores damage in *damage.
func lines(ctx context.Context, l ledger.Reader, damage *ledger.Fault) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		for row, err := range l.Walk(ctx, ledger.Query{}, 0) {
			if err == nil {
				_, err = w.Write(append(bytes.Clone(row.JSON), '\n'))
			}
			if err != nil {
				if found, ok := errors.AsType[*ledger.Fault](err); ok {
					*damage = *found
				}
				w.CloseWithError(err)
				return
			}
		}
		w.Close()
	}()
	return r
}

// readReport adds the receipts that a report lists. A report does not include the contents of the
// receipts that it lists.
func readReport(e *cli.Env, path string, o *options, s *site) (*stream.Summary, error) {
	if o.Keys != "" || o.IntegrityOnly {
		return nil, cli.Usage("", "%q is a report, so it excludes --keys and --integrity-only", path)
	}
	data, err := input.ReadBounded(e, path, input.MaxReportBytes+1)
	if err != nil {
		return nil, err
	}
	saved, err := input.ReadReport(data)
	if err != nil {
		return nil, cli.Usage("create a report with receipt verify --format json PATH… >REPORT", "%q: %w", path, err)
	}

	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var page struct {
			Reports []json.RawMessage
			Checks  json.RawMessage // in the report of a single receipt
		}
		var text json.RawMessage
		if err := d.Decode(&text); err != nil {
			return nil, cli.Usage("", "%q: %w", path, err)
		}
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, cli.Usage("", "%q: %w", path, err)
		}
		if page.Checks != nil {
			page.Reports = []json.RawMessage{text}
		}
		for _, one := range page.Reports {
			rep := new(receipt.Report)
			if err := json.Unmarshal(one, rep); err != nil {
				return nil, cli.Usage("", "%q: %w", path, err)
			}
			if err := s.add(rep, nil); err != nil {
				return nil, err
			}
		}
	}
	return saved.Summary, nil
}
