package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exactArgs is cobra.ExactArgs with our wording and exit code.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(cmd.CommandPath()+" --help shows examples", "expected %s, found %d", what, len(args))
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

// refuseEmpty refuses a flag that was given without a value, as by --issuer
// "$UNSET": that must not mean that nothing was demanded.
func refuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = usage("leave the flag out, or give it a value", "--%s is empty", f.Name)
		}
	})
	return err
}

// maxJobs bounds the memory that jobs need.
const maxJobs = 1024
