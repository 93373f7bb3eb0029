package conformance

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ReportSchema is the name of the format of a [Report]. The protocol's own runner uses the same
// format. This package adds members that the runner's report does not have.
const ReportSchema = "harn-agents-conformance-2026-04-25"

// A Status is the result of a probe, a category, or a run.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// A Report contains the results of a run.
type Report struct {
	Schema          string          `json:"schema"`
	Target          string          `json:"target"`
	ProtocolVersion string          `json:"protocol_version"`
	GeneratedAt     string          `json:"generated_at"` // RFC 3339, UTC: the start of the run
	Summary         Summary         `json:"summary"`
	PercentilesMS   Percentiles     `json:"percentiles_ms"` // of the durations of the probes
	Capabilities    map[string]bool `json:"capabilities"`   // as reported by discovery in this run
	Categories      []Category      `json:"categories"`
	CardDialect     string          `json:"card_dialect,omitempty"` // harn_agent_card or agent_card; "": no card was read
}

// A Summary contains the totals of a report.
type Summary struct {
	Status            Status  `json:"status"`
	Score             float64 `json:"score"` // passed divided by passed and failed; 0 if all were skipped
	Passed            int     `json:"passed"`
	Failed            int     `json:"failed"`
	Skipped           int     `json:"skipped"`
	Total             int     `json:"total"`
	CategoriesPassed  int     `json:"categories_passed"`
	CategoriesFailed  int     `json:"categories_failed"`
	CategoriesSkipped int     `json:"categories_skipped"`
	DurationMS        int64   `json:"duration_ms"`
}

// Percentiles are durations in whole milliseconds. The q-th percentile of n sorted durations is the
// duration with index n·q/100, rounded down and counted from 0.
type Percentiles struct {
	Avg int64 `json:"avg"`
	P50 int64 `json:"p50"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
}

// A Category contains the results of the probes on one subject.
type Category struct {
	Name          string      `json:"name"`
	Status        Status      `json:"status"`
	Passed        int         `json:"passed"`
	Failed        int         `json:"failed"`
	Skipped       int         `json:"skipped"`
	DurationMS    int64       `json:"duration_ms"`
	PercentilesMS Percentiles `json:"percentiles_ms"`
	Tests         []Test      `json:"tests"`
}

// A Test is the result of one probe.
type Test struct {
	Name       string `json:"name"`
	Status     Status `json:"status"`
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"` // if failed: what was expected and what was found
	Rule       *Rule  `json:"rule,omitempty"`  // if failed: the rule that the probe checks
	Note       string `json:"note,omitempty"`  // the reason for skipping it, or a remark
}

// Err returns an error that contains all failures, or nil if there are none. For a nil report, it
// returns nil, because the error from [Run] states the reason.
func (r *Report) Err() error {
	if r == nil {
		return nil
	}
	var list []error
	for _, c := range r.Categories {
		for _, t := range c.Tests {
			if t.Status == Failed {
				list = append(list, fmt.Errorf("%s: %s: %s (the protocol: %s; %s)", c.Name, t.Name, t.Error, t.Rule.Text, t.Rule.Where))
			}
		}
	}
	return errors.Join(list...)
}

// add adds a category and counts its results.
func (r *Report) add(c Category) {
	var times []int64
	for _, t := range c.Tests {
		times = append(times, t.DurationMS)
		switch t.Status {
		case Passed:
			c.Passed++
		case Failed:
			c.Failed++
		case Skipped:
			c.Skipped++
		}
	}
	c.Status, c.PercentilesMS = statusOf(c.Passed, c.Failed), percentilesOf(times)
	r.Categories = append(r.Categories, c)
}

// finish computes the totals.
func (r *Report) finish(took time.Duration) {
	s := &r.Summary
	var times []int64
	for _, c := range r.Categories {
		s.Passed += c.Passed
		s.Failed += c.Failed
		s.Skipped += c.Skipped
		switch c.Status {
		case Passed:
			s.CategoriesPassed++
		case Failed:
			s.CategoriesFailed++
		case Skipped:
			s.CategoriesSkipped++
		}
		for _, t := range c.Tests {
			times = append(times, t.DurationMS)
		}
	}

	s.Total, s.DurationMS = s.Passed+s.Failed+s.Skipped, took.Milliseconds()
	if judged := s.Passed + s.Failed; judged > 0 {
		s.Score = float64(s.Passed) / float64(judged)
	}
	s.Status, r.PercentilesMS = statusOf(s.Passed, s.Failed), percentilesOf(times)
}

func statusOf(passed, failed int) Status {
	switch {
	case failed > 0:
		return Failed
	case passed > 0:
		return Passed
	}
	return Skipped
}

func percentilesOf(times []int64) (p Percentiles) {
	n := len(times)
	if n == 0 {
		return p
	}
	sorted := slices.Sorted(slices.Values(times))
	at := func(q int) int64 { return sorted[min(n*q/100, n-1)] }
	for _, t := range times {
		p.Avg += t
	}
	return Percentiles{p.Avg / int64(n), at(50), at(95), at(99)}
}
