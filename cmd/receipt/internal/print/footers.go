package print

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Footer writes a labeled line after the results.
func Footer(b *bytes.Buffer, label, text string) {
	fmt.Fprintf(b, "%-*s%s\n", cli.LabelWidth, label, cli.EscapeLine(text))
}

// levels writes whether the streams meet the conditions of AEL levels. The user did not request
// this evaluation, so only the first reason is printed.
func levels(b *bytes.Buffer, s *stream.Summary) {
	var met []string
	for _, l := range s.Levels {
		if !l.Met {
			met = append(met, fmt.Sprintf("level %d not met: %s", l.Number, l.Detail))
			break
		}
		met = append(met, fmt.Sprintf("level %d met", l.Number))
	}
	if len(met) > 0 {
		Footer(b, "AEL 0.1", "conditions of "+strings.Join(met, "; of "))
	}
}

// streamLabel returns the name of a stream, which consists of the issuer, the tenant if there is
// one, and the workspace.
func streamLabel(s chain.Stream) string {
	parts := []string{cli.Bare(s.Issuer), cli.Bare(s.Workspace)}
	if s.HasTenant {
		parts = []string{cli.Bare(s.Issuer), cli.Bare(s.Tenant), cli.Bare(s.Workspace)}
	}
	return strings.Join(parts, " / ")
}

// FindingName returns the name of the source or of the stream that a finding is about. For any
// other finding, it returns "the input".
func FindingName(f stream.Finding) string {
	switch {
	case f.Source != "":
		return f.Source
	case f.Stream != nil:
		return streamLabel(*f.Stream)
	}
	return "the input"
}

// NotChecked lists the checks that were not made, and then the skipped inputs. tail names the flags
// that check the end of a stream.
func NotChecked(b *bytes.Buffer, s *stream.Summary, tail string, more ...string) {
	var open []string
	rest := *s
	rest.Skipped = nil // they are listed below
	for _, n := range unchecked(&rest) {
		text := n.Detail
		if n.Code == receipt.CodeTailNotChecked { // the library does not know which flags of this program enable a check
			text += tail
		}
		open = append(open, text)
	}
	open = append(open, more...)
	b.WriteString(cli.Rows("not checked", open, len(open), len(open)))
	Notices(b, "skipped", s.Skipped, s.SkippedCount)
}

// Notices lists inputs that contain no receipts or were not read, with the reasons.
func Notices(b *bytes.Buffer, label string, list []stream.Notice, total int) {
	var lines []string
	for _, n := range list {
		lines = append(lines, fmt.Sprintf("%s (%s)", cli.Bare(n.Source), whyNotRead(n)))
	}
	b.WriteString(cli.Rows(label, lines, cli.MaxStreams, total))
}
