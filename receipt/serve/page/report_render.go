package page

import (
	"cmp"
	_ "embed" // for embedded parts of the file
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// These are the views of the page, as one script, and their style sheet. The package documentation
// describes how they are generated.
//
//go:embed dist/report.min.js
var reportScript string

//go:embed dist/report.min.css
var reportStyle string

//go:embed report.gohtml
var reportTemplate string

// Render writes the report as a single HTML file. The summary must be from the run whose reports
// were added.
func (r *Report) Render(w io.Writer, sum *stream.Summary) error {
	sum = worded(sum)
	v := &View{Template: reportTemplate, Script: reportScript, Style: reportStyle, Types: "'none'"}
	return v.Render(w, sum, r.data(), map[string]any{
		"Headline": r.headline,
		"Streams":  sum.Streams[:min(len(sum.Streams), maxStreams)],
		"Lists":    []titled{{"Refuted receipts", &r.refuted}, {"Undecided receipts", &r.undecided}},
	})
}

// worded returns a summary for people to read. It lists all notes about checks that were not made,
// and lists streams with breaks first.
func worded(sum *stream.Summary) *stream.Summary {
	shown := *sum
	shown.NotChecked = headline.Notes(sum)
	shown.Streams = slices.Clone(sum.Streams)
	slices.SortStableFunc(shown.Streams, func(a, b chain.Segment) int { return cmp.Compare(b.Failures, a.Failures) })
	return &shown
}

// A titled list contains receipts for the plain-text part, with a title.
type titled struct {
	Title string
	*listed
}

// Rows returns the listed reports.
func (l titled) Rows() []*receipt.Report { return l.reports() }

// More returns the number of receipts that are counted but not listed.
func (l titled) More() int { return l.more() }

// All returns the number of all receipts.
func (l titled) All() int { return l.count }

// Groups returns the largest groups, or nil if there is only one group.
func (l titled) Groups() []*group { return l.largest() }

// OtherGroups returns the number of groups that are not listed.
func (l titled) OtherGroups() int { return max(len(l.groups)-maxShared, 0) }

// maxShown is the maximum number of bytes of untrusted text that the plain-text part displays in
// one place.
const maxShown = 1200

// visible escapes invisible characters in a value and truncates long text.
func visible(v any) string {
	s := fmt.Sprint(v)
	more := 0
	if len(s) > maxShown {
		// The text may have been cut in the middle of a character.
		s, more = strings.ToValidUTF8(s[:maxShown], ""), len(s)-maxShown
	}
	s = untrusted.Escape(s)
	if more > 0 {
		s += fmt.Sprintf(" … %d more bytes", more)
	}
	return s
}

func hashText(d canon.Digest) string { return d.String() }

// streamText formats a stream as issuer, tenant, and workspace.
func streamText(s chain.Stream) string {
	parts := []string{s.Issuer}
	if s.HasTenant {
		parts = append(parts, s.Tenant)
	}
	return visible(strings.Join(append(parts, s.Workspace), " / "))
}
