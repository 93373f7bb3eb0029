package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// choices is the annotation of a flag that accepts one of a few values.
const choices = "receipt_choices"

// Choices states the values that a flag accepts. Shells complete them.
func Choices(flags *pflag.FlagSet, name string, values ...string) {
	_ = flags.SetAnnotation(name, choices, values) // an error only for a flag that is not defined
}

// ChoicesOf returns the values that Choices stated for a flag; nil for any other flag.
func ChoicesOf(f *pflag.Flag) []string { return f.Annotations[choices] }

// AnyOf lists values for a person: a, b or c.
func AnyOf(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
