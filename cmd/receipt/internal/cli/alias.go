package cli

import "github.com/spf13/pflag"

// Alias keeps another name of a flag working, out of sight. Both set the same value,
// once.
func Alias(flags *pflag.FlagSet, name, old string) {
	f := *flags.Lookup(name)
	f.Name, f.Shorthand, f.Hidden = old, "", true
	flags.AddFlag(&f)
}
