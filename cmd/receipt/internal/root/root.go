// Package root assembles the commands of the command line.
package root

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/browse"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/conformance"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/keyring"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/logs"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/server"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/setup"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/verify"
)

// Run runs one command line and returns the exit code.
func Run(ctx context.Context, args []string, e *cli.Env) int {
	root := newRootFor(e, args)
	root.SetArgs(args)

	// Unknown flags after a misspelled command are not the actual mistake.
	root.FParseErrWhitelist.UnknownFlags = len(args) > 0 && !strings.HasPrefix(args[0], "-")
	defer e.End()
	if verb, rest, err := root.Find(args); err == nil {
		if err := cli.Misdashed(verb, rest); err != nil {
			return cli.Finish(e, err)
		}
	}
	return cli.Finish(e, root.ExecuteContext(cli.WithLine(ctx, args)))
}

// New returns the root command with all commands.
func New(e *cli.Env) *cobra.Command { return rootWith(e, verbs()) }

// newRootFor returns the root command for one command line. Most command lines use a single
// command, and building all commands, with their two hundred flags, would take longer than many
// commands take to run.
func newRootFor(e *cli.Env, args []string) *cobra.Command {
	if len(args) > 0 {
		for _, v := range verbs() {
			if v.name == args[0] && v.name != "man" {
				return rootWith(e, []verb{v})
			}
		}
	}

	root := New(e)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		completeFlags(root)
	}
	return root
}

// rootWith returns the root command with the given commands.
func rootWith(e *cli.Env, list []verb) *cobra.Command {
	root := &cobra.Command{
		Use:   "receipt",
		Short: "create and verify receipts of AI agent tasks",
		Long: `Create and verify receipts of AI agent tasks. Results are written to stdout,
messages to stderr, and - reads stdin.

Exit codes, unless the help of a command differs:
  0  every requirement was checked and met
  1  something is invalid or malformed
  2  something could not be read, or the command could not run as requested
  3  evidence is missing`,
		Example: `  receipt verify --keys keys.json receipt.json
  receipt show receipt.json`,
		SilenceErrors:         true, // Finish prints them
		SilenceUsage:          true,
		DisableFlagsInUseLine: true,
		Args:                  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownVerb(cmd, args)
			}
			return cli.Usage("receipt --help lists the commands; receipt init prepares this machine, and receipt verify FILE checks a receipt", "expected a command")
		},
	}

	root.SetIn(e.In)
	root.SetOut(e.Text())
	root.SetErr(e.Notes())

	// Invalid flags and empty values are reported like all other failures, with a hint.
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(cli.FlagHint(cmd, err), "%s", flagError(err))
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := cli.RefuseEmpty(cmd); err != nil {
			return err
		}
		if err := cli.ReadDefaults(e); err != nil {
			return err
		}
		return input.KeepRead(cmd, args)
	}
	e.Color = "auto"
	cli.Choose(root.PersistentFlags(), &e.Color, "color", "color results (`WHEN`)", "auto", "always", "never")
	root.SetUsageFunc(plainUsage(root.UsageFunc()))
	root.Version = versionText()
	root.SetVersionTemplate("{{.Version}}")
	root.CompletionOptions.DisableDefaultCmd = true // completion is a separate command of this program
	root.SetHelpCommand(newHelp())
	for _, v := range list {
		root.AddCommand(v.make(e))
	}
	group(root)
	cli.OnceEach(root)
	return root
}

// plainUsage prints the usage of a command. Rarely used flags come last. The flags that every
// command has are listed only in the help of receipt itself.
func plainUsage(usage func(*cobra.Command) error) func(*cobra.Command) error {
	return func(cmd *cobra.Command) error {
		cmd.DisableFlagsInUseLine = true
		last, elsewhere := pflag.NewFlagSet("", pflag.ContinueOnError), map[string][]string{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			described := home(cmd, f)
			namePlaceholder(f)
			switch {
			case f.Name == "help" || f.Name == "color":
				f.Hidden = cmd.HasParent()
			case described != "":
				elsewhere[described] = append(elsewhere[described], "--"+f.Name)
				f.Hidden = true
			case slices.Contains(rare, f.Name):
				shown := *f
				shown.Hidden = false
				last.AddFlag(&shown)
				f.Hidden = true
			}
		})

		var text strings.Builder
		out := cmd.OutOrStderr()
		cmd.SetOut(&text)
		err := usage(cmd)
		cmd.SetOut(out)
		if err != nil {
			return err
		}

		_, err = io.WriteString(out, withoutRepeats(cmd, text.String()+advanced(last, elsewhere)))
		return err
	}
}

// withoutRepeats removes text that repeats the list of commands from the usage of a command group.
func withoutRepeats(cmd *cobra.Command, text string) string {
	if cmd.HasParent() {
		text = strings.Replace(text, "\nUse \""+cmd.CommandPath()+" [command] --help\" for more information about a command.\n", "", 1)
	}
	return strings.Replace(text, "  "+cmd.CommandPath()+" [command]\n", "", 1)
}

// namePlaceholder removes the placeholder from the end of a flag's usage, and makes it the type of
// the flag's value. The help prints this type after the name of the flag.
func namePlaceholder(f *pflag.Flag) {
	text, name, ok := cli.CutPlaceholder(f.Usage)
	if !ok {
		return
	}
	f.Usage, f.Value = text, named{f.Value, name}
	if f.DefValue == "0s" || f.DefValue == "[]" {
		f.DefValue = ""
	}
}

// A named value is a flag value whose type is printed as a placeholder.
type named struct {
	pflag.Value
	placeholder string
}

func (n named) Type() string { return n.placeholder }

// A verb creates a command when the command is needed.
type verb struct {
	name string
	make func(*cli.Env) *cobra.Command
}

// verbs returns all commands except help, which cobra adds.
func verbs() []verb {
	return []verb{
		{"init", setup.NewInit},
		{"hook", func(e *cli.Env) *cobra.Command { return setup.NewHook(e, logs.Fsck) }},
		{"verify", func(e *cli.Env) *cobra.Command { return verify.New(e, logs.Fsck) }},
		{"show", verify.NewShow},
		{"list", logs.NewList},
		{"diff", verify.NewDiff},
		{"canon", issue.NewCanon},
		{"hash", issue.NewHash},
		{"record", issue.NewRecord},
		{"replay", verify.NewReplay},
		{"seal", issue.NewSeal},
		{"sign", issue.NewSign},
		{"attest", issue.NewAttest},
		{"export", issue.NewExport},
		{"redact", issue.NewRedact},
		{"disclose", issue.NewDisclose},
		{"bundle", issue.NewBundle},
		{"archive", issue.NewArchive},
		{"batch", logs.NewBatch},
		{"ledger", func(e *cli.Env) *cobra.Command { return logs.NewLedger(e, verify.Show) }},
		{"timestamp", logs.NewTimestamp},
		{"merge", verify.NewMerge},
		{"keys", keyring.New},
		{"browse", browse.New},
		{"serve", server.New},
		{"conformance", func(e *cli.Env) *cobra.Command { return conformance.New(e, Run) }},
		{"schema", newSchema},
		{"explain", newExplain},
		{"version", newVersion},
		{"completion", newCompletion},
		{"man", newMan},
	}
}

// flagError formats an error about a flag. For an invalid value, it omits the text of strconv
// errors and the short name of the flag.
func flagError(err error) string {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return cli.EscapeLine(err.Error())
	}
	text := fmt.Sprintf("invalid argument %q for %q flag", invalid.GetValue(), "--"+invalid.GetFlag().Name)
	cause := errors.Unwrap(err)
	var value *cli.ValueError
	switch {
	case errors.As(err, new(*strconv.NumError)):
		text += ": expected " + wantedOf(invalid.GetFlag())
	case errors.As(cause, &value):
		text = fmt.Sprintf("invalid --%s %q: %s", invalid.GetFlag().Name, value.Found, value.Detail)
	case cause != nil:
		text += ": " + cause.Error()
	}
	return cli.EscapeLine(text)
}

// wantedOf describes the values that a flag accepts, unless it accepts any text.
func wantedOf(f *pflag.Flag) string {
	switch kind := f.Value.Type(); {
	case kind == "bool":
		return "true or false"
	case strings.HasPrefix(kind, "uint"):
		return "a whole number, 0 or more"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	}
	return "a whole number"
}

// newHelp returns a help command that, unlike cobra's, rejects an unknown command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "print the help of a command",
		Long:  `Print the help of a command, as COMMAND --help does.`,
		Example: `  receipt help verify
  receipt help`,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cli.UnknownVerb(found, rest)
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// group groups the commands in the help by purpose.
func group(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		verbs     []string
	}{
		{"start", "Start:", []string{"init", "hook"}},
		{"check", "Verify receipts:", []string{"verify", "show", "list", "browse", "diff", "merge", "replay"}},
		{"make", "Create receipts:", []string{"record", "redact", "seal", "sign", "attest", "export", "bundle"}},
		{"keep", "Store receipts:", []string{"ledger", "batch", "timestamp", "archive", "serve"}},
		{"keys", "Manage keys:", []string{"keys"}},
		{"bytes", "Inspect bytes:", []string{"canon"}},
		{"about", "Learn more:", []string{"explain", "schema", "conformance", "help", "man", "completion", "version"}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range root.Commands() {
			for _, name := range g.verbs {
				if c.Name() == name {
					c.GroupID = g.id
				}
			}
		}
	}
	root.SetHelpCommandGroupID("about")
}

// completeFlags registers values for shell completion. It covers the flags for which cli.Choices
// recorded values, and the flags listed here.
func completeFlags(cmd *cobra.Command) {
	complete := func(name string, values []string) {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveDefault)) // fails if it is called twice for the same flag
	}
	also := map[string][]string{
		"progress":    {"auto", "always", "never"},
		"alg":         {"ed25519", "EdDSA", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512", "ML-DSA-65", "ML-DSA-44"},
		"role":        {"issuer", "witness", "checkpoint"},
		"reason":      {"superseded", "compromised"},
		"issuer-kind": {"harness", "host", "agent", "connector"},
		"tier":        {"shadow", "suggest", "act_with_approval", "act_auto"},
		"rules":       {"default", "upstream", "strict"},
		"format":      {"text", "json"},
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if values := cli.ChoicesOf(f); values != nil {
			complete(f.Name, values)
		} else if values := also[f.Name]; values != nil {
			complete(f.Name, values)
		}
	})

	for _, c := range cmd.Commands() {
		completeFlags(c)
	}
}

// versionText returns the output of "version" and "--version".
func versionText() string { return cli.ToolName() + "\n" + platform() }
