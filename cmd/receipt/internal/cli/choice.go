package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// choices is the annotation of a flag that accepts only certain values.
const choices = "receipt_choices"

// Choices sets the values that a flag accepts, for shell completion.
func Choices(flags *pflag.FlagSet, name string, values ...string) {
	_ = flags.SetAnnotation(name, choices, values) // returns an error only for a flag that is not defined
}

// ChoicesOf returns the values that Choices set for a flag, and nil for any other flag.
func ChoicesOf(f *pflag.Flag) []string { return f.Annotations[choices] }

// AnyOf lists values in a sentence: a, b or c.
func AnyOf(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
