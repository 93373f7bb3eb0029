package cli

import (
	"fmt"

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

// Alias keeps another name of a flag working, out of sight. Both set the same value,
// once.
func Alias(flags *pflag.FlagSet, name, old string) {
	f := *flags.Lookup(name)
	f.Name, f.Shorthand, f.Hidden = old, "", true
	flags.AddFlag(&f)
}

// StdinName is how a verb is told to read stdin.
const StdinName = "-"

// SourceName is how messages and reports name an input: its path, or stdin for "-".
func SourceName(path string) string {
	if path == StdinName {
		return "stdin"
	}
	return path
}

// OnceEach makes a verb, and the verbs below it, refuse a flag that is given twice.
// The last one would win: of two --expect-head or --checkpoint one would be a
// demand that nobody checks. Flags that take a list stay as they are.
func OnceEach(cmd *cobra.Command) {
	once := map[pflag.Value]*onceValue{} // by what is set: a flag may have two names
	wrap := func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list {
			v := once[f.Value]
			if v == nil {
				v = &onceValue{Value: f.Value}
				once[f.Value] = v
			}
			f.Value = v
			if f.DefValue == "0s" { // help leaves a zero out, and knows that of a duration by its type only
				f.DefValue = "0"
			}
		}
	}
	cmd.Flags().VisitAll(wrap)
	for _, child := range cmd.Commands() {
		OnceEach(child)
	}
}

// An onceValue is the value of a flag that may be given once.
type onceValue struct {
	pflag.Value
	given bool
	first string
}

// Set refuses a second text.
func (v *onceValue) Set(text string) error {
	if v.given {
		return fmt.Errorf("it is given twice, first as %.80q", v.first)
	}
	v.given, v.first = true, text
	return v.Value.Set(text)
}

// OnceStdin refuses - in more than one place.
func OnceStdin(places ...string) error {
	n := 0
	for _, p := range places {
		if p == StdinName {
			n++
		}
	}
	if n > 1 {
		return Usage("", "- is given twice, but stdin can be read once")
	}
	return nil
}
