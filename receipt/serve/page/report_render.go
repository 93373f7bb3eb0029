package page

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the parts of the file
	"encoding/base64"
	"fmt"
	"html/template"
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

// The views of the page as one script, and their style. The package documentation describes how
// they are generated.
//
//go:embed dist/report.min.js
var reportScript string

//go:embed dist/report.min.css
var reportStyle string

//go:embed report.gohtml
var reportTemplate string

// Render writes the report as one HTML file. The summary must be that of the run whose reports were
// added.
func (r *Report) Render(w io.Writer, sum *stream.Summary) error {
	sum = worded(sum)
	data, err := r.data(sum)
	if err != nil {
		return err
	}

	// The template escapes text. The script, the style, and the data belong to this program, or are
	// already escaped.
	t, err := template.New("report").Funcs(template.FuncMap{"visible": visible, "hash": hashText, "stream": streamText, "fault": headline.Fault}).Parse(reportTemplate)
	if err != nil {
		return err
	}

	return t.Execute(w, map[string]any{
		"Policy":  Policy(reportScript, reportStyle, "", "'none'"),
		"Style":   template.CSS(reportStyle),
		"Script":  template.JS(reportScript),
		"Data":    template.JS(data),
		"Verdict": VerdictWord(sum),
		"Summary": sum,
		"Streams": sum.Streams[:min(len(sum.Streams), maxStreams)],
		"Lists":   []titled{{"Refuted receipts", &r.refuted}, {"Undecided receipts", &r.undecided}},
	})
}

// worded returns a summary for people: it lists the unchecked steps of single receipts together
// with the notes about the entire input, and lists streams with breaks first.
func worded(sum *stream.Summary) *stream.Summary {
	shown := *sum
	shown.NotChecked = slices.Concat(sum.NotChecked, headline.Unchecked(sum.Unchecked, sum.Withheld))
	shown.Streams = slices.Clone(sum.Streams)
	slices.SortStableFunc(shown.Streams, func(a, b chain.Segment) int { return cmp.Compare(b.Failures, a.Failures) })
	return &shown
}

// Policy returns the Content Security Policy (CSP 3) of a page with one script and one style. The
// other arguments are further sources of scripts, each after a space, and the trusted-types value.
func Policy(script, style, sources, types string) string {
	return "default-src 'none'; script-src " + hashSource(script) + sources + "; style-src " + hashSource(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types " + types
}

func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// VerdictWord returns a verdict in one word; integrity alone is never called verified.
func VerdictWord(sum *stream.Summary) string {
	v := sum.Verdict()
	if v == receipt.Verified && sum.Scope != receipt.ScopeFull {
		return "intact"
	}
	return v.String()
}

// A titled list is a list of receipts in plain text.
type titled struct {
	Title string
	*listed
}

// Rows returns the receipts in a list.
func (l titled) Rows() []*receipt.Report { return l.reports() }

// More returns the number of receipts that are not listed.
func (l titled) More() int { return l.more() }

// All returns the number of receipts.
func (l titled) All() int { return l.count }

// Groups returns the largest groups, if there are several.
func (l titled) Groups() []*group { return l.largest() }

// OtherGroups returns the number of groups that are not listed.
func (l titled) OtherGroups() int { return max(len(l.groups)-maxShared, 0) }

// maxShown is the number of bytes of foreign text that the plain part shows.
const maxShown = 1200

// visible escapes invisible characters, and shortens long text.
func visible(v any) string {
	s := fmt.Sprint(v)
	more := 0
	if len(s) > maxShown {
		// The cut may be in the middle of a character.
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
