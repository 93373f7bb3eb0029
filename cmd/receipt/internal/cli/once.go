package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
