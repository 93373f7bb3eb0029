package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/receiptkit/receiptkit/harness/conformance"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// write writes the report to the file or the output that the flags specify.
func write(o *flags, r *conformance.Report, out io.Writer) error {
	text, err := receipt.AppendJSON(nil, r)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if o.jsonOut != "" {
		if err := os.WriteFile(o.jsonOut, text, 0o644); err != nil {
			return err
		}
	}
	if !o.json {
		text = []byte(textOf(r, o.verbose))
	}
	_, err = out.Write(text)
	return err
}

// textOf formats the report as text.
func textOf(r *conformance.Report, verbose bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n", untrusted.Escape(r.Target), r.ProtocolVersion)
	for _, c := range r.Categories {
		fmt.Fprintf(&b, "%-16s %-7s  %d passed, %d failed, %d skipped, %d ms\n", c.Name, c.Status, c.Passed, c.Failed, c.Skipped, c.DurationMS)
		for _, t := range c.Tests {
			if verbose || t.Status == conformance.Failed {
				printTest(&b, t)
			}
		}
	}

	if r.CardDialect != "" {
		fmt.Fprintf(&b, "the card's dialect is %s\n", r.CardDialect)
	}
	s := r.Summary
	fmt.Fprintf(&b, "%s: %d passed, %d failed, %d skipped of %d, score %.2f, %d ms\n", s.Status, s.Passed, s.Failed, s.Skipped, s.Total, s.Score, s.DurationMS)
	return b.String()
}

func printTest(b *strings.Builder, t conformance.Test) {
	fmt.Fprintf(b, "  %-7s %s, %d ms\n", t.Status, t.Name, t.DurationMS)
	if t.Error != "" {
		fmt.Fprintf(b, "    %s\n", untrusted.Escape(t.Error))
	}
	if t.Rule != nil {
		fmt.Fprintf(b, "    the protocol: %s (%s)\n", t.Rule.Text, t.Rule.Where)
	}
	if t.Note != "" {
		fmt.Fprintf(b, "    %s\n", untrusted.Escape(t.Note))
	}
}
