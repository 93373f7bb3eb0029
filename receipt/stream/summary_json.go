package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// summaryJSON is the JSON form of a Summary, as defined by the schema "summary".
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
	Unchecked  map[receipt.Code]int `json:"unchecked,omitzero"`
	Withheld   int                  `json:"withheld,omitzero"`
	Inputs     Inputs               `json:"inputs"`
	Levels     []Level              `json:"ael,omitzero"`
	Keys       *Keys                `json:"keys"`
	Tool       string               `json:"tool"`
	Started    receipt.Time         `json:"started"`
	Finished   receipt.Time         `json:"finished"`
	Asked      *asked               `json:"asked,omitzero"`
	Roster     *rosterJSON          `json:"roster,omitzero"`
}

// rosterJSON is the JSON form of a roster. The receipts are packed and encoded in base64.
type rosterJSON struct {
	Streams  []streamName     `json:"streams"`
	Sources  []attendanceJSON `json:"sources"`
	Outcomes bool             `json:"outcomes,omitzero"`
}

type attendanceJSON struct {
	Partial   bool   `json:"partial,omitzero"`
	Unordered bool   `json:"unordered,omitzero"`
	Unplaced  int    `json:"unplaced,omitzero"`
	Receipts  []byte `json:"receipts"`
}

type streamJSON struct {
	Stream        streamName    `json:"stream"`
	Count         uint64        `json:"count"`
	FirstPrevious *canon.Digest `json:"first_previous"`
	Head          canon.Digest  `json:"head"`
	Failures      uint64        `json:"failures"`
	Partial       bool          `json:"partial,omitzero"`
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

func newSummaryJSON(s *Summary) *summaryJSON {
	j := &summaryJSON{
		Version: receipt.ReportVersion, Verdict: s.Verdict(), Scope: s.Scope, Complete: s.Complete, Partial: s.Partial,
		Receipts: s.Receipts, Verified: s.Verified, Refuted: s.Refuted, Undecided: s.Undecided, Copies: s.Copies,
		Codes: map[receipt.Code]int{}, Skipped: orEmpty(s.Skipped), SkippedAll: s.SkippedCount,
		Streams: []streamJSON{}, Findings: []findingJSON{}, NotChecked: orEmpty(s.NotChecked), Unchecked: s.Unchecked, Withheld: s.Withheld,
		Inputs: s.Inputs, Levels: s.Levels, Keys: s.Keys, Tool: s.Tool, Started: s.Started, Finished: s.Finished, Asked: s.asked, Roster: newRosterJSON(s.roster),
	}

	j.Inputs.Unreadable = orEmpty(j.Inputs.Unreadable)
	for code, n := range s.Codes {
		j.Codes[code] = n
	}

	// In JSON, codes also includes findings.
	for _, f := range s.Findings {
		j.Codes[f.Code]++
		out := findingJSON{Finding: f}
		if f.Stream != nil {
			name := nameOf(*f.Stream)
			out.Stream = &name
		}
		j.Findings = append(j.Findings, out)
	}

	// If a stream has no first_previous, it is complete from its beginning.
	for _, g := range s.Streams {
		out := streamJSON{Stream: nameOf(g.Stream), Count: g.Count, Head: g.Head, Failures: g.Failures, Partial: s.selects(g.Stream)}
		if !g.First {
			out.FirstPrevious = &g.Previous
		}
		j.Streams = append(j.Streams, out)
	}

	return j
}

// summary returns the summary, or an error if the summary contradicts itself.
func (j *summaryJSON) summary() (Summary, error) {
	if j.Version != receipt.ReportVersion {
		return Summary{}, fmt.Errorf("expected report_version %d, found %d", receipt.ReportVersion, j.Version)
	}

	r := Summary{
		Scope: j.Scope, Complete: j.Complete, Partial: j.Partial,
		Receipts: j.Receipts, Verified: j.Verified, Refuted: j.Refuted, Undecided: j.Undecided, Copies: j.Copies,
		Codes: map[receipt.Code]int{}, Skipped: j.Skipped, SkippedCount: j.SkippedAll,
		NotChecked: j.NotChecked, Unchecked: j.Unchecked, Withheld: j.Withheld, Inputs: j.Inputs, Levels: j.Levels, Keys: j.Keys, Tool: j.Tool, Started: j.Started, Finished: j.Finished, asked: j.Asked,
	}

	for code, n := range j.Codes {
		r.Codes[code] = n
	}
	if j.Asked != nil { // an older version did not record which streams are selections; all of them are assumed to be
		r.selected = map[chain.Stream]bool{}
	}

	for _, in := range j.Streams {
		g := chain.Segment{Stream: in.Stream.stream(), Count: in.Count, First: in.FirstPrevious == nil, Head: in.Head}
		if !g.First {
			g.Previous = *in.FirstPrevious
		}
		g.Failures = in.Failures
		if in.Partial {
			if r.selected == nil {
				r.selected = map[chain.Stream]bool{}
			}
			r.selected[g.Stream] = true
		}
		r.Streams = append(r.Streams, g)
	}
	r.Streams = chain.Join(r.Streams)

	// In JSON, codes also includes findings. In a Summary, Codes includes only receipts.
	for _, f := range j.Findings {
		if r.Codes[f.Code]--; r.Codes[f.Code] == 0 {
			delete(r.Codes, f.Code)
		}
		if j.Asked == nil { // the summary was written by an older version
			f.Drawn = survey.AboutLinks(f.Code)
		}
		if f.Stream != nil {
			stream := f.Stream.stream()
			f.Finding.Stream = &stream
		}
		r.Findings = append(r.Findings, f.Finding)
	}

	if j.Roster != nil {
		var err error
		if r.roster, err = j.Roster.parse(); err != nil {
			return Summary{}, err
		}
	}

	// Anyone can write a report, so a report that contradicts itself is rejected.
	if err := checkConsistent(&r); err != nil {
		return Summary{}, err
	}
	if r.Verdict() != j.Verdict {
		return Summary{}, fmt.Errorf("it states %s, but its counts give %s", j.Verdict, r.Verdict())
	}
	met := func(l Level) bool { return l.Met }
	if j.Verdict != receipt.Verified && slices.ContainsFunc(j.Levels, met) {
		return Summary{}, fmt.Errorf("it states a level of AEL, but is %s", j.Verdict)
	}
	return r, nil
}

// newRosterJSON returns the JSON form of a roster. It returns nil if a report must not contain that
// many receipts.
func newRosterJSON(r *survey.Roster) *rosterJSON {
	if r == nil || r.Receipts > survey.MaxRoster && !r.Whole {
		return nil
	}
	j := &rosterJSON{Streams: []streamName{}, Sources: []attendanceJSON{}, Outcomes: r.Outcomes}
	for _, s := range r.Streams {
		j.Streams = append(j.Streams, nameOf(s))
	}
	for _, in := range r.Sources {
		j.Sources = append(j.Sources, attendanceJSON{in.Partial, in.Unordered, in.Unplaced, orEmpty(in.Packed)})
	}
	return j
}

// parse returns the roster, or an error if it cannot be unpacked.
func (j *rosterJSON) parse() (*survey.Roster, error) {
	r := &survey.Roster{Outcomes: j.Outcomes}
	for i := range j.Streams {
		r.Streams = append(r.Streams, j.Streams[i].stream())
	}

	for _, in := range j.Sources {
		if err := r.Read(survey.Attendance{Partial: in.Partial, Unordered: in.Unordered, Unplaced: in.Unplaced, Packed: in.Receipts}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// decodeStrictly decodes JSON in which members must be unique and have exactly the expected names.
// encoding/json would accept duplicates, using the last one, and ignore the case of names.
func decodeStrictly(data []byte, v any) error {
	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Bytes: math.MaxUint32}); err != nil {
		return err
	}
	if err := plainNames(doc.Root()); err != nil {
		return err
	}

	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// plainNames returns an error if the name of a member contains a character that does not occur in
// any name in our formats, such as an uppercase letter.
func plainNames(n canon.Node) error {
	for name, value := range n.Members() {
		if text := name.String(); strings.ContainsFunc(text, func(r rune) bool { return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }) {
			return fmt.Errorf("unknown member %.40q", text)
		}
		if err := plainNames(value); err != nil {
			return err
		}
	}
	for _, value := range n.Elements() {
		if err := plainNames(value); err != nil {
			return err
		}
	}
	return nil
}

func orEmpty[T any](l []T) []T {
	if l == nil {
		return []T{} // encoded as [], never as null
	}
	return l
}
