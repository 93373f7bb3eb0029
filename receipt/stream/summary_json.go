package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// summaryJSON is the form of a Summary that the schema "summary" fixes.
type summaryJSON struct {
	Version    int                  `json:"report_version"`
	Verdict    receipt.Verdict      `json:"verdict"`
	Scope      receipt.Scope        `json:"scope"`
	Complete   bool                 `json:"complete"`
	Partial    bool                 `json:"partial,omitzero"`
	Receipts   int                  `json:"receipts"`
	Verified   int                  `json:"verified"`
	Refuted    int                  `json:"refuted"`
	Undecided  int                  `json:"undecided"`
	Codes      map[receipt.Code]int `json:"codes"`
	Copies     int                  `json:"copies"`
	Skipped    []Notice             `json:"skipped"`
	SkippedAll int                  `json:"skipped_count"`
	Streams    []streamJSON         `json:"streams"`
	Findings   []findingJSON        `json:"findings"`
	NotChecked []receipt.Note       `json:"not_checked"`
	Inputs     Inputs               `json:"inputs"`
	Keys       *Keys                `json:"keys"`
	Tool       string               `json:"tool"`
	Started    receipt.Time         `json:"started"`
	Finished   receipt.Time         `json:"finished"`
}

type streamJSON struct {
	Stream        streamName    `json:"stream"`
	Count         uint64        `json:"count"`
	FirstPrevious *canon.Digest `json:"first_previous"`
	Head          canon.Digest  `json:"head"`
	Failures      uint64        `json:"failures"`
}

type findingJSON struct {
	Finding
	Stream *streamName `json:"stream"`
}

type streamName struct {
	Issuer    string  `json:"issuer"`
	Tenant    *string `json:"tenant"`
	Workspace string  `json:"workspace"`
}

func nameOf(s chain.Stream) streamName {
	n := streamName{Issuer: s.Issuer, Workspace: s.Workspace}
	if s.HasTenant {
		n.Tenant = &s.Tenant
	}
	return n
}

func (n *streamName) stream() chain.Stream {
	s := chain.Stream{Issuer: n.Issuer, Workspace: n.Workspace}
	if n.Tenant != nil {
		s.Tenant, s.HasTenant = *n.Tenant, true
	}
	return s
}

// MarshalJSON writes the summary with its verdict.
func (s *Summary) MarshalJSON() ([]byte, error) {
	j := summaryJSON{
		Version: receipt.ReportVersion, Verdict: s.Verdict(), Scope: s.Scope, Complete: s.Complete, Partial: s.Partial,
		Receipts: s.Receipts, Verified: s.Verified, Refuted: s.Refuted, Undecided: s.Undecided, Copies: s.Copies,
		Codes: map[receipt.Code]int{}, Skipped: list(s.Skipped), SkippedAll: s.SkippedCount,
		Streams: []streamJSON{}, Findings: []findingJSON{}, NotChecked: list(s.Open()),
		Inputs: s.Inputs, Keys: s.Keys, Tool: s.Tool, Started: s.Started, Finished: s.Finished,
	}
	j.Inputs.Unreadable = list(j.Inputs.Unreadable)
	for code, n := range s.Codes {
		j.Codes[code] = n
	}
	for _, f := range s.AllFindings() {
		j.Codes[f.Code]++
		out := findingJSON{Finding: f}
		if f.Stream != nil {
			name := nameOf(*f.Stream)
			out.Stream = &name
		}
		j.Findings = append(j.Findings, out)
	}
	for _, g := range s.Streams {
		out := streamJSON{Stream: nameOf(g.Stream), Count: g.Count, Head: g.Head, Failures: g.Failures.Count}
		if !g.First {
			out.FirstPrevious = &g.Previous
		}
		j.Streams = append(j.Streams, out)
	}
	return json.Marshal(j)
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{} // written [], never null
	}
	return l
}

// UnmarshalJSON reads a summary back. The verdict is not read but drawn anew, and
// a summary that states another one is refused.
func (s *Summary) UnmarshalJSON(data []byte) error {
	var j summaryJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("stream: summary: %w", err)
	}
	if j.Version != receipt.ReportVersion {
		return fmt.Errorf("stream: summary: expected report_version %d, found %d", receipt.ReportVersion, j.Version)
	}
	if j.Verified+j.Refuted+j.Undecided != j.Receipts || j.Verified < 0 || j.Refuted < 0 || j.Undecided < 0 {
		return errors.New("stream: summary: its counts do not add up")
	}
	r := Summary{
		Scope: j.Scope, Complete: j.Complete, Partial: j.Partial,
		Receipts: j.Receipts, Verified: j.Verified, Refuted: j.Refuted, Undecided: j.Undecided, Copies: j.Copies,
		Codes: map[receipt.Code]int{}, Skipped: j.Skipped, SkippedCount: j.SkippedAll,
		NotChecked: j.NotChecked, Inputs: j.Inputs, Keys: j.Keys, Tool: j.Tool, Started: j.Started, Finished: j.Finished,
	}
	for code, n := range j.Codes {
		r.Codes[code] = n
	}
	for _, in := range j.Streams {
		g := chain.Segment{Stream: in.Stream.stream(), Count: in.Count, First: in.FirstPrevious == nil, Head: in.Head}
		if !g.First {
			g.Previous = *in.FirstPrevious
		}
		g.Failures.Count = in.Failures
		r.Streams = append(r.Streams, g)
	}
	r.Streams = chain.Join(r.Streams)
	for _, f := range j.Findings {
		if r.Codes[f.Code]--; r.Codes[f.Code] <= 0 {
			delete(r.Codes, f.Code)
		}
		if derived(f.Code) {
			continue // AllFindings finds it again
		}
		if f.Stream != nil {
			stream := f.Stream.stream()
			f.Finding.Stream = &stream
		}
		r.Findings = append(r.Findings, f.Finding)
	}
	if r.Verdict() != j.Verdict {
		return fmt.Errorf("stream: summary: it states %s, but its counts say %s", j.Verdict, r.Verdict())
	}
	*s = r
	return nil
}

// derived reports whether findings of a code follow from the streams.
func derived(code receipt.Code) bool {
	return slices.Contains([]receipt.Code{receipt.CodeChainBreak, receipt.CodeChainFork}, code)
}
