package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/receipt"
)

// ExactArgs is cobra.ExactArgs with the messages and exit code of this program.
func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return Usage(cmd.CommandPath()+" --help shows examples", "expected %s, found %d", what, len(args))
		}
		return nil
	}
}

// Group turns cmd into a command that only groups other commands.
func Group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return UnknownVerb(cmd, args)
		}
		return Usage(cmd.CommandPath()+" --help lists the commands", "expected a command")
	}
	cmd.FParseErrWhitelist.UnknownFlags = true // after a misspelled command, unknown flags are not the actual mistake
	cmd.AddCommand(below...)
	return cmd
}

// CutPlaceholder splits a usage text that ends in " (`PLACEHOLDER`)". Help prints the placeholder
// next to the flag, and must not repeat it.
func CutPlaceholder(usage string) (text, placeholder string, ok bool) {
	text, placeholder, ok = strings.Cut(strings.TrimSuffix(usage, "`)"), " (`")
	return text, placeholder, ok
}

// Choose adds a flag that accepts only certain words. The value of *to is the default, and usage
// must end in a placeholder.
func Choose(f *pflag.FlagSet, to *string, name, usage string, words ...string) {
	text, placeholder, _ := CutPlaceholder(usage)
	f.Var(&choice{to, words}, name, text+": "+OrList(words)+" (`"+placeholder+"`)")
	Choices(f, name, words...)
}

// TimeVar adds a flag that accepts a time (RFC 3339).
func TimeVar(f *pflag.FlagSet, to *time.Time, name, usage string) {
	f.Var(&instant{to: to}, name, usage)
}

// An instant is the value of a flag that accepts a time.
type instant struct {
	to   *time.Time
	text string
}

func (i *instant) String() string { return i.text }

func (i *instant) Type() string { return "string" }

func (i *instant) Set(text string) (err error) {
	if i.text = text; text == "" { // RefuseEmpty rejects it
		return nil
	}
	if *i.to, err = receipt.ParseTime(text); err != nil {
		return &ValueError{text, err.Error()}
	}
	return nil
}

// choices is the annotation key for the values that a flag accepts.
const choices = "receipt_choices"

// Choices records the values that a flag accepts. Shells complete them.
func Choices(flags *pflag.FlagSet, name string, values ...string) {
	flags.Lookup(name).Annotations = map[string][]string{choices: values}
}

// ChoicesOf returns the values that Choices recorded for a flag, or nil if there are none.
func ChoicesOf(f *pflag.Flag) []string { return f.Annotations[choices] }

// A choice is the value of a flag that accepts only certain words. The default need not be one of
// these words.
type choice struct {
	to    *string
	words []string
}

func (c *choice) String() string {
	if c.to == nil { // pflag calls String on the zero value
		return ""
	}
	return *c.to
}

func (c *choice) Type() string { return "string" }

func (c *choice) Set(word string) error {
	if word != "" && !slices.Contains(c.words, word) { // RefuseEmpty rejects empty values
		return &ValueError{word, "must be " + OrList(c.words)}
	}
	*c.to = word
	return nil
}

// A ValueError reports an invalid value of a flag.
type ValueError struct{ Found, Detail string }

func (err *ValueError) Error() string { return err.Detail }

// OptionalFile validates the arguments of a command that reads one file or stdin.
func OptionalFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return Usage(cmd.CommandPath()+" --help shows examples", "expected one file, found %d", len(args))
	}
	return nil
}

// FileArg returns the first argument, or stdin if args is empty.
func FileArg(args []string) string {
	if len(args) == 0 {
		return StdinName
	}
	return args[0]
}

// RefuseEmpty returns an error if a flag has an empty value, as in --issuer "$UNSET". Otherwise, an
// empty value would mean that there is no requirement.
func RefuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = Usage("omit the flag, or specify a value", "--%s is empty", f.Name)
		}
	})
	return err
}

// MaxJobs is the maximum value of --jobs. It limits the memory that jobs can use.
const MaxJobs = 1024

// Alias adds a hidden flag that is an old name of another flag. Both names set the same value, and
// only one of them may be used.
func Alias(flags *pflag.FlagSet, name, old string) {
	f := *flags.Lookup(name)
	f.Name, f.Shorthand, f.Hidden = old, "", true
	flags.AddFlag(&f)
}

// StdinName is the argument that stands for stdin.
const StdinName = "-"

// SourceName returns the name of an input in messages and reports: its path, or stdin for "-".
func SourceName(path string) string {
	if path == StdinName {
		return "stdin"
	}
	return path
}

// OnceEach makes a command and its subcommands reject a flag that is set twice. Otherwise, only the
// last value would apply, so, for example, one of two --expect-head or --checkpoint requirements
// would not be checked. Flags that accept a list are not changed.
func OnceEach(cmd *cobra.Command) {
	once := map[pflag.Value]*onceValue{} // the key is the value, because a flag may have two names
	wrap := func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list {
			v := once[f.Value]
			if v == nil {
				v = &onceValue{Value: f.Value}
				once[f.Value] = v
			}
			f.Value = v
			if f.DefValue == "0s" { // help omits the default 0, but not the default 0s of a wrapped duration
				f.DefValue = "0"
			}
		}
	}
	cmd.Flags().VisitAll(wrap)
	for _, child := range cmd.Commands() {
		OnceEach(child)
	}
}

// An onceValue is the value of a flag that can be given only once.
type onceValue struct {
	pflag.Value
	given bool
	first string
}

// Set returns an error if the value was already set.
func (v *onceValue) Set(text string) error {
	if v.given {
		return fmt.Errorf("it is specified twice, first as %.80q", v.first)
	}
	v.given, v.first = true, text
	return v.Value.Set(text)
}

// OnceStdin returns an error if more than one of the paths is stdin.
func OnceStdin(places ...string) error {
	n := 0
	for _, p := range places {
		if p == StdinName {
			n++
		}
	}
	if n > 1 {
		return Usage("", "stdin is specified twice, but can be read only once")
	}
	return nil
}
