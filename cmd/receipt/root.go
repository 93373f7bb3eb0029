package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, e *env) int {
	root := newRoot(e)
	root.SetArgs(args)
	return finish(e, root.ExecuteContext(ctx))
}

func newRoot(e *env) *cobra.Command {
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
				return usage("receipt --help lists the verbs", "unknown verb %q", args[0])
			}
			return usage("receipt --help lists the verbs; receipt verify FILE checks a receipt", "expected a verb")
		},
	}
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(cmd.CommandPath()+" --help shows the flags", "%s", flagError(err))
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return refuseEmpty(cmd) }
	root.CompletionOptions.DisableDefaultCmd = true // it is a verb of its own here
	root.SetHelpCommand(newHelp())
	root.AddCommand(
		newVerify(e),
		newShow(e),
		newDiff(e),
		newCanon(e),
		newHash(e),
		newRecord(e),
		newSeal(e),
		newSign(e),
		newRedact(e),
		newDisclose(e),
		newArchive(e),
		newBatch(e), newLedger(e),
		newMerge(e),
		newKeys(e),
		newServe(e),
		newSchema(e),
		newExplain(e),
		newVersion(e),
		newCompletion(e),
		newMan(e),
	)
	onceEach(root)
	return root
}

// flagError is the text of a flag error without the words of strconv.
func flagError(err error) string {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	return escapeLine(text)
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
				return usage("receipt --help lists the verbs", "unknown verb %q", strings.Join(args, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}
