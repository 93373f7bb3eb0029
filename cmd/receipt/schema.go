package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/schemas"
)

// eventSchema is the schema of the lines of a log; every other one is of a document.
const eventSchema schemas.Name = "event"

type schemaOptions struct {
	check           string
	markdown, force bool
	output          string
}

func newSchema(e *cli.Env) *cobra.Command {
	var o schemaOptions
	cmd := &cobra.Command{
		Use:   "schema [NAME]",
		Short: "write a built-in JSON Schema, or check a file by it",
		Long: `Write a built-in JSON Schema (draft 2020-12). Without a name, list the names.
Formats are meant to be asserted.

With --check, say instead where a file does not fit the schema: a document, or for
the schema event each line of a log. What else has to hold of them, receipt verify
and receipt record say.`,
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
	f.StringVar(&o.check, "check", "", "say where this `FILE` does not fit the schema")
	f.BoolVar(&o.markdown, "markdown", false, "write the page of the schema event as Markdown")
	f.StringVarP(&o.output, "output", "o", "", "write to this `FILE`")
	f.BoolVarP(&o.force, "force", "f", false, "overwrite the output file")
	return cmd
}

func listSchemas(e *cli.Env, o *schemaOptions) error {
	if o.check != "" || o.markdown {
		return cli.Usage("receipt schema lists the names", "no NAME: which schema?")
	}
	var names strings.Builder
	for _, n := range schemas.Names() {
		fmt.Fprintln(&names, n)
	}
	return cli.WriteOutput(e, o.output, []byte(names.String()), 0o644, o.force)
}

func writeSchema(cmd *cobra.Command, e *cli.Env, n schemas.Name, o *schemaOptions) error {
	text, ok := schemas.Source(n)
	switch {
	case !ok:
		return unknownSchema(string(n))
	case o.check != "" && (o.output != "" || o.markdown):
		return cli.Usage("", "--check writes no schema: leave out --output and --markdown")
	case o.check != "":
		return checkFile(cmd.Context(), e, n, o.check)
	case o.markdown && n != eventSchema:
		return cli.Usage("", "--markdown is for the schema %s, found %s", eventSchema, n)
	case o.markdown:
		var page bytes.Buffer
		record.WriteEventsPage(&page)
		text = page.Bytes()
	}
	return cli.WriteOutput(e, o.output, text, 0o644, o.force)
}

// unknownSchema is the failure for a name that no schema has.
func unknownSchema(name string) error {
	var names []string
	for _, n := range schemas.Names() {
		names = append(names, string(n))
	}
	hint := "receipt schema lists the names"
	if near := cli.Nearest(name, names); near != "" {
		hint = "did you mean receipt schema " + near + "?"
	}
	return cli.Usage(hint, "unknown schema %q", name)
}
