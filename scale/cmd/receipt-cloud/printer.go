package main

import (
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/terms"
)

// A printer writes results as soon as they are available.
type printer interface {
	report(*receipt.Report) error
	end(*stream.Summary) error
}

func (o *verifyFlags) printer(w io.Writer, asked *stream.Options) (printer, error) {
	switch o.format {
	case "text":
		return &textPrinter{w, asked.Unordered || asked.Checkpoint != nil}, nil
	case "json":
		return &jsonPrinter{w: w, open: "{\n\"reports\":[\n", between: ",\n", close: "\n],\n" + `"summary":`, last: "}\n"}, nil
	case "ndjson":
		return &jsonPrinter{w: w, after: "\n", close: `{"summary":`, last: "}\n"}, nil
	}
	return nil, fmt.Errorf("invalid --format %q: expected text, json, or ndjson", o.format)
}

// A jsonPrinter writes exactly the same output as "receipt verify" in the same format.
type jsonPrinter struct {
	w                    io.Writer
	open, between, after string // around reports
	close, last          string // around the summary
	begun                bool
	text                 []byte
}

func (p *jsonPrinter) report(rep *receipt.Report) error {
	before := p.between
	if !p.begun {
		before, p.begun = p.open, true
	}
	return p.write(before, rep, p.after)
}

func (p *jsonPrinter) end(s *stream.Summary) error {
	before := p.close
	if !p.begun && p.open != "" {
		before = p.open[:len(p.open)-1] + before[1:]
	}
	return p.write(before, s, p.last)
}

func (p *jsonPrinter) write(before string, v any, after string) (err error) {
	if p.text, err = receipt.AppendJSON(append(p.text[:0], before...), v); err != nil {
		return err
	}
	p.text = append(p.text, after...)
	_, err = p.w.Write(p.text)
	return err
}

// A textPrinter writes a line for each receipt that is not verified, followed by the summary.
type textPrinter struct {
	w     io.Writer
	twice bool // here, a single object is also read twice
}

func (p *textPrinter) report(rep *receipt.Report) error {
	if rep.Verdict == receipt.Verified {
		return nil
	}
	f := rep.Finding()
	return p.line("%s: %s, %s: %s", rep.Address(), rep.Verdict, f.Code, f.Detail)
}

func (p *textPrinter) end(s *stream.Summary) error {
	readings := 1
	if s.Inputs.Files > 1 || p.twice {
		readings = 2
	}
	return terms.WriteText(p.w, s, readings)
}

// line writes a line in which untrusted text is escaped, so that the text cannot start another
// line.
func (p *textPrinter) line(format string, args ...any) error {
	_, err := fmt.Fprintln(p.w, untrusted.Escape(fmt.Sprintf(format, args...)))
	return err
}
