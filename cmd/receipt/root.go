package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/bundles"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/keyring"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/logs"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/replays"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/server"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/verify"
)

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, e *cli.Env) int {
	root := newRoot(e)
	root.SetArgs(args)

	// After a misspelled verb its flags are unknown, and not the mistake.
	root.FParseErrWhitelist.UnknownFlags = len(args) > 0 && !strings.HasPrefix(args[0], "-")
	defer e.End()
	if verb, rest, err := root.Find(args); err == nil {
		if err := cli.Misdashed(verb, rest); err != nil {
			return cli.Finish(e, err)
		}
	}
	return cli.Finish(e, root.ExecuteContext(cli.WithLine(ctx, args)))
}

func newRoot(e *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "receipt",
		Short: "make and verify receipts of AI-agent tasks",
		Long: `Make and verify receipts of AI-agent tasks. Results go to stdout, messages to
stderr, and - reads stdin.

Exit codes: 0 when everything that was asked for was positively shown, 1 when
something is false or malformed, 2 when something could not be read or run as
asked, 3 when evidence is missing.`,
		Example: `  receipt verify --keys keys.json receipt.json
  receipt show receipt.json`,
		SilenceErrors:         true, // finish prints them
		SilenceUsage:          true,
		DisableFlagsInUseLine: true,
		Args:                  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownVerb(cmd, args)
			}
			return cli.Usage("receipt --help lists the verbs; receipt verify FILE checks a receipt", "expected a verb")
		},
	}

	root.SetIn(e.In)
	root.SetOut(e.Text())
	root.SetErr(e.Notes())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(cli.FlagHint(cmd, err), "%s", flagError(err))
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(colors(), e.Color) {
			return cli.Usage("", "--color is auto, always or never, found %q", e.Color)
		}
		if err := cli.RefuseEmpty(cmd); err != nil {
			return err
		}
		return input.KeepRead(cmd, args)
	}
	root.PersistentFlags().StringVar(&e.Color, "color", "auto", "colour results: `WHEN` auto (on a terminal, unless NO_COLOR is set), always or never")
	root.Version = versionText()
	root.SetVersionTemplate("{{.Version}}")
	root.CompletionOptions.DisableDefaultCmd = true // it is a verb of its own here
	root.SetHelpCommand(newHelp())
	root.AddCommand(
		verify.New(e),
		verify.NewShow(e),
		verify.NewDiff(e),
		issue.NewCanon(e),
		issue.NewHash(e),
		issue.NewRecord(e),
		replays.New(e),
		issue.NewSeal(e),
		issue.NewSign(e),
		issue.NewAttest(e),
		issue.NewRedact(e),
		issue.NewDisclose(e),
		bundles.New(e),
		issue.NewArchive(e),
		logs.NewBatch(e), logs.NewLedger(e, verify.Show),
		verify.NewMerge(e),
		keyring.New(e),
		server.New(e),
		newSchema(e),
		newExplain(e),
		newVersion(e),
		newCompletion(e),
		newMan(e),
	)

	for _, c := range root.Commands() {
		c.FParseErrWhitelist.UnknownFlags = c.HasSubCommands()
	}
	group(root)
	completeFlags(root)
	cli.OnceEach(root)
	return root
}

func colors() []string { return []string{"auto", "always", "never"} }

// flagError is the text of a flag error without the words of strconv, and with the long
// name of the flag alone.
func flagError(err error) string {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return cli.EscapeLine(err.Error())
	}
	text := fmt.Sprintf("invalid argument %q for %q flag", invalid.GetValue(), "--"+invalid.GetFlag().Name)
	cause := errors.Unwrap(err)
	switch {
	case errors.As(err, new(*strconv.NumError)):
		text += ": expected " + wantedOf(invalid.GetFlag())
	case cause != nil:
		text += ": " + cause.Error()
	}
	return cli.EscapeLine(text)
}

// wantedOf is what a flag takes that is no text.
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

// newHelp is cobra's help, but a verb that is unknown is an error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "show the help of a verb",
		Long:  "Show the help of a verb, as VERB --help does.",
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
