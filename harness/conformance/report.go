package conformance

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ReportSchema names the form of a [Report]: the one of the protocol's own runner. Members
// that it does not have are of ours, and say more.
const ReportSchema = "harn-agents-conformance-2026-04-25"

// A Status is how a probe, a category or a run ended.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// A Report says what was found.
type Report struct {
	Schema          string          `json:"schema"`
	Target          string          `json:"target"`
	ProtocolVersion string          `json:"protocol_version"`
	GeneratedAt     string          `json:"generated_at"` // RFC 3339, UTC: the begin of the run
	Summary         Summary         `json:"summary"`
	PercentilesMS   Percentiles     `json:"percentiles_ms"` // of the probes
	Capabilities    map[string]bool `json:"capabilities"`   // what discovery said in this run
	Categories      []Category      `json:"categories"`
	CardDialect     string          `json:"card_dialect,omitempty"` // harn_agent_card or agent_card; "": no card was read
}

// A Summary counts.
type Summary struct {
	Status            Status  `json:"status"`
	Score             float64 `json:"score"` // passed of those passed and failed; 0 when all were skipped
	Passed            int     `json:"passed"`
	Failed            int     `json:"failed"`
	Skipped           int     `json:"skipped"`
	Total             int     `json:"total"`
	CategoriesPassed  int     `json:"categories_passed"`
	CategoriesFailed  int     `json:"categories_failed"`
	CategoriesSkipped int     `json:"categories_skipped"`
	DurationMS        int64   `json:"duration_ms"`
}

// Percentiles are of durations, in whole milliseconds. Of n sorted ones the q-th is number
// n·q/100, rounded down, from 0.
type Percentiles struct {
	Avg int64 `json:"avg"`
	P50 int64 `json:"p50"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
}

// A Category is what probes of one subject found.
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

// A Test is what one probe found.
type Test struct {
	Name       string `json:"name"`
	Status     Status `json:"status"`
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"` // of a failed one: what was expected, what was found
	Rule       *Rule  `json:"rule,omitempty"`  // of a failed one: what it is for
	Note       string `json:"note,omitempty"`  // why it was skipped; what else is to be said
}

// Err returns an error that has all failures, nil when there are none. A nil report has none:
// the error of [Run] says why.
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

// add counts a category.
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

// finish sums up.
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
