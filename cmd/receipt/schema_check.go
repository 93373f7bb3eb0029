package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/bundle"
	"github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/receipt/record/event"
	"github.com/receiptkit/receiptkit/schemas"
)

// maxFindings is how many places are printed; the others are counted.
const maxFindings = 20

// A schemaCheck says where what it is given does not fit a schema.
type schemaCheck struct {
	out      io.Writer
	name     schemas.Name
	schema   *schemas.Schema
	file     string // as the caller named it
	findings int
	checked  int // documents or lines
	unfit    int
}

// checkFile checks a file by a schema.
func checkFile(ctx context.Context, e *cli.Env, n schemas.Name, path string) error {
	schema, err := schemas.Compile(n)
	if err != nil {
		return err
	}

	c := &schemaCheck{out: e.Out, name: n, schema: schema, file: cli.SourceName(path)}
	if n == eventSchema {
		err = c.lines(ctx, e, path)
	} else {
		err = c.document(e, path)
	}
	if err != nil {
		return err
	}
	return c.conclude()
}

// document checks a file that is one document.
func (c *schemaCheck) document(e *cli.Env, path string) error {
	data, most, err := c.read(e, path)
	if err != nil {
		return err
	}
	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Bytes: most}); err != nil {
		return cli.Refuted("", "%q: %w", c.file, err)
	}
	c.fits(c.file, doc)
	return nil
}

// read reads a document, and says how long one may be: bundles are longer than receipts.
func (c *schemaCheck) read(e *cli.Env, path string) (data []byte, most int, err error) {
	if c.name == "session-bundle" {
		data, err = input.ReadBounded(e, path, bundle.MaxBytes+1)
		return data, bundle.MaxBytes, err
	}
	data, err = input.ReadInput(e, path)
	return data, canon.MaxBytes, err
}

// lines checks a log, in the lines that a recorder reads.
func (c *schemaCheck) lines(ctx context.Context, e *cli.Env, path string) error {
	if f := input.KindOfFile(path); f.Kind != kind.Unknown && f.Kind != kind.Events {
		return cli.Usage(input.Next(f, path), "%q is not a log of events: it is %s", path, f.What)
	}
	in, err := input.OpenInput(e, path)
	if err != nil {
		return err
	}
	defer in.Close()

	text := input.UntilDone(ctx, in)
	defer text.Close()
	lines, doc := event.NewLines(text), new(canon.Document)
	for {
		line, err := lines.Next()
		var limit *event.LineError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &limit):
			return cli.Usage("", "%q: %w", c.file, limit)
		case err != nil:
			return err
		}

		at := fmt.Sprintf("%s:%d", c.file, lines.Line())
		if err := event.Parse(doc, line); err != nil {
			wrong := event.Unparsed(c.checked+1, "", err).Detail
			if c.checked == 0 {
				return cli.Refuted(input.LogHow(path), "%q is not a log of events: line %d, %s", c.file, lines.Line(), wrong)
			}
			c.checked++
			c.unfit++
			c.find(at, "", wrong)
			continue
		}
		c.fits(at, doc)
	}
}

// fits checks one document.
func (c *schemaCheck) fits(at string, doc *canon.Document) {
	c.checked++
	found := c.schema.Check(doc.Root())
	if found.Total > 0 {
		c.unfit++
	}
	for _, p := range found.Problems {
		c.find(at, p.Pointer, p.Detail)
	}
	c.findings += found.Total - len(found.Problems)
}

// find prints a place, if it is among the first.
func (c *schemaCheck) find(at, pointer, detail string) {
	if c.findings++; c.findings > maxFindings {
		return
	}
	if pointer != "" {
		detail = pointer + ": " + detail
	}
	fmt.Fprintf(c.out, "%s: %s\n", cli.EscapeText(at), cli.EscapeText(detail))
}

// conclude says what came of it.
func (c *schemaCheck) conclude() error {
	file := cli.EscapeText(c.file)
	switch {
	case c.checked == 0:
		return cli.Usage("a log has a JSON object a line: docs/events.md", "%q is empty", c.file)
	case c.findings > maxFindings:
		fmt.Fprintf(c.out, "and %d more places\n", c.findings-maxFindings)
	}

	if c.name != eventSchema {
		if c.unfit > 0 {
			fmt.Fprintf(c.out, "%s: does not fit the schema %s\n", file, c.name)
			return cli.ExitWith(cli.ExitRefuted)
		}
		_, err := fmt.Fprintf(c.out, "%s: fits the schema %s\n", file, c.name)
		return err
	}

	if c.unfit > 0 {
		fmt.Fprintf(c.out, "%s: %d of %d lines do not fit the schema %s\n", file, c.unfit, c.checked, c.name)
		return cli.ExitWith(cli.ExitRefuted)
	}
	_, err := fmt.Fprintf(c.out, "%s: %d lines fit the schema %s\n", file, c.checked, c.name)
	return err
}
