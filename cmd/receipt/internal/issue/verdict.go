package issue

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/foreign/verdict"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// judge writes a VSA or an SVR that states the verdict on a receipt, or the verdict in a report.
func judge(ctx context.Context, e *cli.Env, o *attestOptions, path string) error {
	data, err := input.ReadBounded(e, path, input.MaxReportBytes+1)
	if err != nil {
		return err
	}
	v, verdicts, err := verdictOf(path, data)
	if errors.Is(err, input.ErrNotReport) {
		v, verdicts, err = verdictOn(e, o.keys, path, data)
	}
	if err != nil {
		return err
	}
	switch {
	case verdicts == receipt.Undecided:
		return cli.Undecided("receipt verify lists the evidence that is missing", "%q is undecided, so there is no verdict to sign", cli.SourceName(path))
	case verdicts == receipt.Refuted && o.predicate == svr:
		return cli.Refuted("--predicate vsa states FAILED", "%q is refuted, which an SVR cannot state", cli.SourceName(path))
	case len(v.Subjects) == 0 || len(v.Properties) == 0 && verdicts == receipt.Verified:
		return cli.Usage("write the report with receipt verify --format json", "%q does not list what was verified", cli.SourceName(path))
	}

	key, err := o.key.Open(ctx, e)
	if err != nil {
		return err
	}
	v.At, v.Refuted, v.Verifier = e.Now(), verdicts == receipt.Refuted, verdict.Key(key.Public().ID)
	if o.verifier != "" {
		v.Verifier = verdict.Issuer(o.verifier)
	}
	if o.predicate == svr {
		return o.sign(ctx, e, key, v.SVR())
	}
	return o.sign(ctx, e, key, v.VSA())
}

// verdictOn verifies a receipt with the keys in --keys or, without this flag, with the user's keys.
func verdictOn(e *cli.Env, keys, path string, data []byte) (*verdict.Verdict, receipt.Verdict, error) {
	if err := input.WrongKind(path, data, "a receipt, or a report", input.Receipt); err != nil {
		return nil, 0, err
	}
	file, err := trust.ReadKeys(e, keys)
	if err != nil {
		return nil, 0, err
	}
	v, err := receipt.NewVerifier(file.Set, receipt.Policy{Now: e.Now()})
	if err != nil {
		return nil, 0, cli.Usage("", "%w", err)
	}

	rep := new(receipt.Report)
	v.VerifyBytes(data, new(canon.Document), rep)
	sum := &stream.Summary{Keys: &stream.Keys{SHA256: file.SHA256}, Tool: "receipt"}
	return verdictFrom([]*receipt.Report{rep}, sum, canon.Digest{}), rep.Verdict, nil
}

// verdictOf reads the verdict of a report.
func verdictOf(path string, data []byte) (*verdict.Verdict, receipt.Verdict, error) {
	saved, err := input.ReadReport(data)
	switch {
	case errors.Is(err, input.ErrNotReport):
		return nil, 0, err
	case err != nil:
		return nil, 0, cli.Usage("", "%q: %w", cli.SourceName(path), err)
	case !saved.Whole():
		return nil, 0, cli.Usage("write the report with receipt verify --format json", "%q does not list all receipts that it counts", cli.SourceName(path))
	}

	// The strict parser has accepted the report in one of its forms. Only this form lists checks.
	var report struct {
		Reports []*receipt.Report
		Summary struct{ Asked json.RawMessage }
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, 0, cli.Usage("write the report with receipt verify --format json", "%q: %w", cli.SourceName(path), err)
	}
	asked, err := canon.Transform(report.Summary.Asked)
	if err != nil {
		return nil, 0, cli.Usage("write the report again", "%q does not state what was required", cli.SourceName(path))
	}

	v := verdictFrom(report.Reports, saved.Summary, canon.Sum(data))
	v.Policies[0].Digest = canon.Sum(asked)
	return v, saved.Verdict(), nil
}

// verdictFrom converts reports to a verdict, which lists the steps that passed in all reports, and
// the subjects of the reports.
func verdictFrom(reports []*receipt.Report, sum *stream.Summary, digest canon.Digest) *verdict.Verdict {
	v := &verdict.Verdict{Report: digest, Policies: []verdict.Resource{{URI: "urn:receiptkit:policy"}}}
	if sum.Keys != nil {
		v.Policies = append(v.Policies, verdict.Resource{URI: "urn:receiptkit:trust", Digest: sum.Keys.SHA256})
	}
	v.Policies = append(v.Policies, verdict.Resource{URI: "urn:receiptkit:tool:" + url.PathEscape(sum.Tool)})

	passed, order := map[receipt.Step]int{}, []receipt.Step{}
	for _, rep := range reports {
		for _, c := range rep.Checks {
			if c.Status != receipt.StatusPassed {
				continue
			}
			if passed[c.Step] == 0 {
				order = append(order, c.Step)
			}
			passed[c.Step]++
		}
	}
	for _, step := range order {
		if passed[step] == len(reports) {
			v.Properties = append(v.Properties, verdict.Property(step))
		}
	}
	v.Subjects = subjectsOf(reports, sum)
	return v
}

// subjectsOf returns the subjects of reports: the digest of the bytes of a single receipt, the
// digests of the refuted receipts, or the heads of streams with all of their receipts.
func subjectsOf(reports []*receipt.Report, sum *stream.Summary) (list []verdict.Subject) {
	for _, rep := range reports {
		if (len(reports) == 1 || rep.Verdict == receipt.Refuted) && !rep.InputSHA256.IsZero() {
			list = append(list, verdict.Subject{Name: rep.ReceiptID.String(), Digest: rep.InputSHA256})
		}
	}
	if len(reports) == 1 || sum.Refuted > 0 {
		return list
	}

	count := uint64(0)
	for _, s := range sum.Streams {
		count += s.Count
		list = append(list, verdict.Subject{Name: "stream of " + input.StreamText(s.Stream), Digest: s.Head})
	}
	if count != uint64(sum.Receipts) || len(sum.Heads()) != len(sum.Streams) {
		return nil
	}
	return list
}
