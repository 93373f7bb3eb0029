package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

func newMan(e *cli.Env) *cobra.Command {
	var dir string
	var force bool
	cmd := &cobra.Command{
		Use:   "man [VERB…]",
		Short: "write a manual page",
		Long: `Write the manual page of receipt, or of one of its verbs, for man(1). With --dir,
write one file for each.`,
		Example: `  receipt man verify | head -n 1
  receipt man --dir man1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				if len(args) > 0 {
					return cli.Usage("", "--dir writes all pages, so it takes no verb")
				}
				return writeManPages(cmd.Root(), dir, force)
			}

			page, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cli.UnknownVerb(page, rest)
			}

			text, err := manPage(page)
			if err != nil {
				return err
			}

			return cli.WriteOutput(e, "", text, 0, false)
		},
	}

	cmd.Flags().StringVar(&dir, "dir", "", "write a file for each verb into this folder")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "overwrite existing files")
	return cmd
}

// manPage renders one page. Its date is fixed, so that equal programs write
// equal pages.
func manPage(cmd *cobra.Command) ([]byte, error) {
	date := time.Date(2026, 4, 25, 0, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	cmd.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "receipt", Manual: "receipt manual"}
	err := doc.GenMan(cmd, header, &b)
	b.WriteString(manEnd)
	return b.Bytes(), err
}

// manEnd is what every page ends with, in the macros of man(7).
const manEnd = `.SH EXIT STATUS
.TP
.B 0
everything that was asked for was positively shown
.TP
.B 1
something is false or malformed
.TP
.B 2
something could not be read or run as asked
.TP
.B 3
evidence is missing
.SH ENVIRONMENT
.TP
.B RECEIPT_KEYS
the file of trusted keys, where no \-\-keys is given
.TP
.B XDG_CONFIG_HOME, HOME
where receipt/keys.json is looked for without either
.TP
.B NO_COLOR
no colour on a terminal, when it is not empty
.TP
.B TMPDIR
where what does not fit into memory is kept, without \-\-temp\-dir
`

func writeManPages(root *cobra.Command, dir string, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cli.Usage("", "%q: %w", dir, cli.Reason(err))
	}
	return eachCommand(root, func(cmd *cobra.Command) error {
		text, err := manPage(cmd)
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		return cli.WriteOutput(nil, filepath.Join(dir, name), text, 0o644, force)
	})
}

func eachCommand(cmd *cobra.Command, f func(*cobra.Command) error) error {
	if err := f(cmd); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if err := eachCommand(c, f); err != nil {
			return err
		}
	}
	return nil
}
