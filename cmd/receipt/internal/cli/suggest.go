package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// UnknownVerb returns the failure for a word that is not a subcommand of cmd. The hint suggests the
// command that was probably intended, if there is one.
func UnknownVerb(cmd *cobra.Command, args []string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}

	// The most specific suggestion is tried first: a known synonym, then a subcommand with this
	// name, then a similar name.
	word := args[0]
	rest := rest(cmd, args)
	spelt := strings.TrimPrefix(cmd.CommandPath()+" "+word, cmd.Root().Name()+" ")
	hint := cmd.CommandPath() + " --help lists the commands"
	switch near := Nearest(word, names); {
	case !cmd.HasParent() && synonyms[word] != "":
		hint = "did you mean " + strings.Join(append([]string{"receipt", synonyms[word]}, rest...), " ") + "?"
	case len(below(cmd, word)) > 0:
		hint = "did you mean " + strings.Join(below(cmd, word), " or ") + "?"
	case near != "":
		hint = "did you mean " + strings.Join(append([]string{cmd.CommandPath(), near}, rest...), " ") + "?"
	case !cmd.HasParent() && looksLikePath(word):
		hint = "did you mean receipt verify " + ShellFile(word) + "?"
	}
	return Usage(hint, "unknown command %q", spelt)
}

// synonyms maps common other names to names of commands.
var synonyms = map[string]string{
	"validate": "verify", "check": "verify", "view": "show", "print": "show", "inspect": "show", "cat": "show", "create": "seal", "generate": "seal", "make": "seal",
}

// below returns the subcommands named word in the groups of a command. For example, it returns
// "receipt batch prove" for "prove".
func below(cmd *cobra.Command, word string) (verbs []string) {
	for _, group := range cmd.Commands() {
		for _, c := range group.Commands() {
			if c.IsAvailableCommand() && c.Name() == word {
				verbs = append(verbs, c.CommandPath())
			}
		}
	}
	return verbs[:min(len(verbs), 3)]
}

// lineKey is the context key of the command line.
type lineKey struct{}

// WithLine stores the command line in the context, because cobra drops the flags of an unknown
// command.
func WithLine(ctx context.Context, args []string) context.Context {
	return context.WithValue(ctx, lineKey{}, args)
}

// rest returns the words after a misspelled command, including flags, so that the hint can repeat
// them. It returns them only if there are few words, each of them is short, and each is a file name
// or has no special characters, because other words may contain anything.
func rest(cmd *cobra.Command, args []string) (words []string) {
	const most, longest = 8, 60
	typed := args
	if ctx := cmd.Context(); ctx != nil {
		line, _ := ctx.Value(lineKey{}).([]string)
		if i := slices.Index(line, args[0]); i >= 0 {
			typed = line[i:]
		}
	}
	if len(typed) > most {
		return nil
	}

	for _, word := range typed[1:] {
		_, err := os.Stat(word)
		if len(word) > longest || ShellName(word) != word && err != nil {
			return nil
		}
		words = append(words, ShellName(word))
	}
	return words
}

// looksLikePath reports whether a word is the name of a file, or is written like one.
func looksLikePath(word string) bool {
	if _, err := os.Stat(word); err == nil {
		return true
	}
	return strings.ContainsAny(word, "./") || strings.ContainsRune(word, os.PathSeparator)
}

// FlagHint returns a hint for an error about a flag: the flag that was probably intended, or how to
// list the flags.
func FlagHint(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		name := unknown.GetSpecifiedName()
		if near := Nearest(name, names); near != "" {
			return "did you mean --" + near + "?"
		}
		if how := elsewhere(cmd, name); how != "" {
			return how
		}
	}
	return cmd.CommandPath() + " --help shows the flags"
}

// elsewhere returns a hint for a flag that is common in other programs but has a different form in
// this program.
func elsewhere(cmd *cobra.Command, name string) string {
	has := func(flag string) bool { return cmd.Flags().Lookup(flag) != nil }
	switch {
	case slices.Contains([]string{"no-color", "no-colour", "nocolor"}, name) && has("color"):
		return "did you mean --color never?"
	case has("format") && (name == "json" || slices.Contains(ChoicesOf(cmd.Flags().Lookup("format")), name)):
		return "did you mean --format " + name + "?"
	case slices.Contains([]string{"o", "out", "output"}, name) && has("report"):
		return "did you mean --report FILE? redirect the output to a file with >FILE"
	case len(name) == 1 && cmd.Flags().ShorthandLookup(strings.ToLower(name)) != nil:
		return "did you mean -" + strings.ToLower(name) + "?"
	}
	return ""
}

// Misdashed returns an error for a long flag that begins with a single dash, or with a long dash
// that a web page or a mail program substituted for two dashes. Without this check, such a flag
// would be misread: -keys would be -k with the file "eys".
func Misdashed(cmd *cobra.Command, args []string) error {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for _, arg := range args {
		if arg == "--" {
			return nil
		}
		word, _, _ := strings.Cut(arg, "=")
		bare := strings.TrimLeft(word, "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
		dashes := strings.TrimSuffix(word, bare)
		if dashes == "" || dashes == "--" || dashes == "-" && len(bare) < 2 {
			continue
		}
		if _, err := os.Stat(arg); err == nil {
			continue
		}

		f := cmd.Flags().Lookup(bare)
		if f == nil && len(bare) == 1 {
			f = cmd.Flags().ShorthandLookup(bare)
		}
		if f != nil {
			return Usage("did you mean --"+f.Name+"?", "%q is not a flag: names of flags begin with two dashes", word)
		}
	}
	return nil
}

// Nearest returns the name that was probably intended by a word, or "" if no name is similar. Up to
// a third of the letters may differ, or the word may be the beginning of exactly one name.
func Nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, least := "", max(1, len(word)/3)
	var begun []string
	for _, name := range names {
		if d := Distance(word, name); d <= least && (best == "" || d < least) {
			best, least = name, d
		}
		if len(word) > 1 && strings.HasPrefix(name, word) {
			begun = append(begun, name)
		}
	}
	if best == "" && len(begun) == 1 {
		return begun[0]
	}
	return best
}

// Distance returns the number of changes that turn one word into another (the restricted
// Damerau–Levenshtein distance). A change inserts, deletes, or replaces a letter, or swaps two
// adjacent letters.
func Distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	before, last, row := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = slices.Min([]int{last[j+1] + 1, row[j] + 1, last[j] + cost})
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
