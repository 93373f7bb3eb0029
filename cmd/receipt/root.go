package main

import (
	"context"

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
		Use:           "receipt",
		Short:         "make and verify receipts of AI-agent tasks",
		SilenceErrors: true, // finish prints them
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
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
		return usage(cmd.CommandPath()+" --help shows the flags", "%w", err)
	})
	root.CompletionOptions.DisableDefaultCmd = true // it is a verb of its own here
	root.AddCommand(
		newVerify(e),
		newShow(e),
		newDiff(e),
		newCanon(e),
		newHash(e),
		newSeal(e),
		newSign(e),
		newSchema(e),
		newExplain(e),
		newVersion(e),
		newCompletion(e),
		newMan(e),
	)
	return root
}

// exactArgs is cobra.ExactArgs with our wording and exit code.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(cmd.CommandPath()+" --help shows examples", "expected %s, found %d arguments", what, len(args))
		}
		return nil
	}
}

// optionalFile is the arguments of a verb that reads one file, or stdin.
func optionalFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage(cmd.CommandPath()+" --help shows examples", "expected one file, found %d", len(args))
	}
	return nil
}

// fileArg returns the file named by args, stdin when there is none.
func fileArg(args []string) string {
	if len(args) == 0 {
		return stdinName
	}
	return args[0]
}
