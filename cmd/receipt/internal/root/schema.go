package root

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt/bundle"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/schemas"
)

// eventSchema is the schema for the lines of a log. All other schemas are for entire documents.
const eventSchema schemas.Name = "event"

type schemaOptions struct {
	check    string
	markdown bool
	output   cli.OutputFlags
}

func newSchema(e *cli.Env) *cobra.Command {
	var o schemaOptions
	cmd := &cobra.Command{
		Use:   "schema [NAME]",
		Short: "write a built-in JSON Schema, or check a file against it",
		Long: `Write a built-in JSON Schema (draft 2020-12), whose formats must be asserted.
Without a name, list the names.

With --check, list the places where a file does not match the schema. The file
is a document or, for the schema event, a log whose lines are checked.`,
		Example: `  receipt schema receipt-2026-04-25
  receipt schema event --check events.jsonl`,
		ValidArgsFunction: func(*cobra.Command, []string, string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
			for _, n := range schemas.Names() {
				list = append(list, string(n))
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usage("", "expected one name, found %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listSchemas(e, &o)
			}
			return writeSchema(cmd, e, schemas.Name(args[0]), &o)
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.check, "check", "", "file to check (`FILE`)")
	f.BoolVar(&o.markdown, "markdown", false, "write the page of the schema event as Markdown")
	o.output.Register(f, "output (`FILE`)")
	return cmd
}

func listSchemas(e *cli.Env, o *schemaOptions) error {
	if o.check != "" || o.markdown {
		return cli.Usage("list the names with receipt schema", "missing NAME of a schema")
	}
	var names strings.Builder
	for _, n := range schemas.Names() {
		fmt.Fprintln(&names, n)
	}
	return o.output.Write(e, []byte(names.String()), 0o644)
}

func writeSchema(cmd *cobra.Command, e *cli.Env, n schemas.Name, o *schemaOptions) error {
	text, ok := schemas.Source(n)
	switch {
	case !ok:
		return unknownSchema(string(n))
	case o.check != "" && (o.output.Path != "" || o.markdown):
		return cli.Usage("", "--check excludes --output and --markdown")
	case o.check != "":
		return checkFile(cmd.Context(), e, n, o.check)
	case o.markdown && n != eventSchema:
		return cli.Usage("", "--markdown is for the schema %s, found %s", eventSchema, n)
	case o.markdown:
		text = issue.EventsPage()
	}
	return o.output.Write(e, text, 0o644)
}

// unknownSchema returns the failure for an unknown schema name.
func unknownSchema(name string) error {
	var names []string
	for _, n := range schemas.Names() {
		names = append(names, string(n))
	}
	hint := "list the names with receipt schema"
	if near := cli.Nearest(name, names); near != "" {
		hint = "did you mean receipt schema " + near + "?"
	}
	return cli.Usage(hint, "unknown schema %q", name)
}

// maxFindings is the maximum number of locations that are printed. Further locations are only
// counted.
const maxFindings = 20

// A schemaCheck lists the locations at which a file does not match a schema.
type schemaCheck struct {
	out      io.Writer
	name     schemas.Name
	schema   *schemas.Schema
	file     string // name in the form that the caller specified
	findings int
	checked  int // number of documents or lines
	unfit    int
}

// checkFile checks a file against a schema.
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

// document checks a file that contains one document.
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

// read reads a document, and also returns its maximum size. Bundles may be larger than receipts.
func (c *schemaCheck) read(e *cli.Env, path string) (data []byte, most int, err error) {
	if c.name == "session-bundle" {
		data, err = input.ReadBounded(e, path, bundle.MaxBytes+1)
		return data, bundle.MaxBytes, err
	}
	data, err = input.ReadInput(e, path)
	return data, canon.MaxBytes, err
}

// lines checks a log, which is split into lines in the same way that "receipt record" splits it.
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

	// An invalid line is a finding if it follows a valid line. Before the first valid line, an
	// invalid line means that the file is not a log.
	err = record.EachLine(text, func(line int, doc *canon.Document, wrong *record.Error) error {
		at := fmt.Sprintf("%s:%d", c.file, line)
		switch {
		case wrong == nil:
			c.fits(at, doc)
		case c.checked == 0:
			return cli.Refuted(input.LogHow(path), "%q is not a log of events: line %d, %s", c.file, line, wrong.Detail)
		default:
			c.checked++
			c.unfit++
			c.find(at, "", wrong.Detail)
		}
		return nil
	})

	var limit *record.LineError
	if errors.As(err, &limit) {
		return cli.Usage("", "%q: %w", c.file, limit)
	}
	return err
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

// find counts a location, and prints it if it is among the first maxFindings.
func (c *schemaCheck) find(at, pointer, detail string) {
	if c.findings++; c.findings > maxFindings {
		return
	}
	if pointer != "" {
		detail = pointer + ": " + detail
	}
	fmt.Fprintf(c.out, "%s: %s\n", cli.EscapeText(at), cli.EscapeText(detail))
}

// conclude prints the result.
func (c *schemaCheck) conclude() error {
	file := cli.EscapeText(c.file)
	switch {
	case c.checked == 0:
		return cli.Usage("a log has one JSON object per line; see docs/events.md", "%q is empty", c.file)
	case c.findings > maxFindings:
		fmt.Fprintf(c.out, "and %d more places\n", c.findings-maxFindings)
	}

	if c.name != eventSchema {
		if c.unfit > 0 {
			fmt.Fprintf(c.out, "%s: does not match the schema %s\n", file, c.name)
			return cli.ExitWith(cli.ExitRefuted)
		}
		_, err := fmt.Fprintf(c.out, "%s: matches the schema %s\n", file, c.name)
		return err
	}

	if c.unfit > 0 {
		fmt.Fprintf(c.out, "%s: %d of %d lines do not match the schema %s\n", file, c.unfit, c.checked, c.name)
		return cli.ExitWith(cli.ExitRefuted)
	}
	_, err := fmt.Fprintf(c.out, "%s: %d lines match the schema %s\n", file, c.checked, c.name)
	return err
}
