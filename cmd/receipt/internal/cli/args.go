package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ExactArgs is cobra.ExactArgs with our wording and exit code.
func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return Usage(cmd.CommandPath()+" --help shows examples", "expected %s, found %d", what, len(args))
		}
		return nil
	}
}

// OptionalFile is the arguments of a verb that reads one file, or stdin.
func OptionalFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return Usage(cmd.CommandPath()+" --help shows examples", "expected one file, found %d", len(args))
	}
	return nil
}

// FileArg returns the file named by args, stdin when there is none.
func FileArg(args []string) string {
	if len(args) == 0 {
		return StdinName
	}
	return args[0]
}

// RefuseEmpty refuses a flag that was given without a value, as by --issuer
// "$UNSET": that must not mean that nothing was demanded.
func RefuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = Usage("leave the flag out, or give it a value", "--%s is empty", f.Name)
		}
	})
	return err
}

// MaxJobs bounds the memory that jobs need.
const MaxJobs = 1024
