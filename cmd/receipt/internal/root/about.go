package root

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
)

func newVersion(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Long: `Print the version of this program, of Go, and of the receipt format, and whether
the page of receipt serve is built in.`,
		Example: `  receipt version
  receipt version | head -n 1`,
		Args: cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := io.WriteString(e.Out, versionText())
			return err
		},
	}
}

// pageBuilt describes whether the page is built in and, if not, how to build it.
func pageBuilt() string {
	if page.Built() {
		return "built in"
	}
	return "not built in (in a checkout: go generate ./receipt/serve/page, then go install ./cmd/receipt)"
}

// platform describes the Go version, the target, the receipt format, and whether the page is built
// in.
func platform() string {
	return fmt.Sprintf("%s %s/%s\n%s\nverification page: %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, receipt.SchemaMarker, pageBuilt())
}

func newCompletion(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "write a shell completion script",
		Long:  `Write a completion script, which the shell runs when it starts.`,
		Example: `  receipt completion bash > receipt.bash
  receipt completion fish | head -n 1`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cli.ExactArgs(1, "the name of a shell, bash, zsh, fish or powershell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(e.Out, true)
			case "zsh":
				return root.GenZshCompletion(e.Out)
			case "fish":
				return root.GenFishCompletion(e.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(e.Out)
			}
			return cli.Usage("expected bash, zsh, fish, or powershell", "unknown shell %q", args[0])
		},
	}
}

func newMan(e *cli.Env) *cobra.Command {
	var dir string
	var force bool
	cmd := &cobra.Command{
		Use:   "man [COMMAND…]",
		Short: "write a manual page",
		Long: `Write the manual page of receipt or of one of its commands, for man(1). With
--dir, write a file for each.`,
		Example: `  receipt man verify | head -n 1
  receipt man --dir man1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				if len(args) > 0 {
					return cli.Usage("", "--dir writes all pages, so it accepts no command")
				}
				return writeManPages(cmd.Root(), dir, force)
			}

			// Find returns the deepest match, so remaining words mean that the command is unknown.
			page, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cli.UnknownVerb(page, rest)
			}

			text, err := manPage(page)
			if err != nil {
				return err
			}

			_, err = e.Out.Write(text)
			return err
		},
	}

	cmd.Flags().StringVar(&dir, "dir", "", "write a file for each command (`DIR`)")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "overwrite files")
	return cmd
}

// manPage renders one manual page. The date of the page is fixed, so that the output of a program
// is always the same.
func manPage(cmd *cobra.Command) ([]byte, error) {
	date := time.Date(2026, 4, 25, 0, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	cmd.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "receipt", Manual: "receipt manual"}
	err := doc.GenMan(cmd, header, &b)
	b.WriteString(manEnd)
	return b.Bytes(), err
}

// manEnd is the end of every page, in man(7) macros.
const manEnd = `.SH EXIT STATUS
.TP
.B 0
every requirement was checked and met
.TP
.B 1
something is invalid or malformed
.TP
.B 2
an input could not be read, or the command could not run as requested
.TP
.B 3
evidence is missing
.SH ENVIRONMENT
.TP
.B RECEIPT_KEYS
the file of trusted keys, if \-\-keys is not given
.TP
.B XDG_CONFIG_HOME, HOME
the directories searched for receipt/keys.json if neither is given
.TP
.B NO_COLOR
if not empty, no color on a terminal
.TP
.B TMPDIR
the directory for temporary files, if \-\-temp\-dir is not set
`

func writeManPages(root *cobra.Command, dir string, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cli.Usage("", "%q: %w", dir, cli.Reason(err))
	}
	return Each(root, func(cmd *cobra.Command) error {
		text, err := manPage(cmd)
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		return cli.WriteOutput(nil, filepath.Join(dir, name), text, 0o644, force)
	})
}

func Each(cmd *cobra.Command, f func(*cobra.Command) error) error {
	if err := f(cmd); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if err := Each(c, f); err != nil {
			return err
		}
	}
	return nil
}
