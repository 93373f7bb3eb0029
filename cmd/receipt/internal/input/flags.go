package input

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Flags specifies the inputs, and how they are read.
type Flags struct {
	FilesFrom, input string
	Long             bool
}

// Register adds the flags to a command.
func (f *Flags) Register(flags *pflag.FlagSet) {
	names := kindNames()
	flags.StringVar(&f.FilesFrom, "files-from", "", "read NUL-separated paths (`FILE`)")
	flags.StringVar(&f.input, "input", "", "input format: "+cli.OrList(names)+" (default: detected) (`KIND`)")
	flags.BoolVar(&f.Long, "long", false, fmt.Sprintf("allow zstd windows up to %d MiB", unpack.MaxLongWindow>>20))
	cli.Choices(flags, "input", names...)
}

// kindNames returns the values of --input.
func kindNames() (names []string) {
	for k := stream.JSON; k <= stream.Sequence; k++ {
		names = append(names, k.String())
	}
	return names
}

// Keeping is like Selected, but returns an error if the output is one of the inputs. Unlike
// KeepRead, it also checks inputs in directories and in lists of paths.
func (f *Flags) Keeping(e *cli.Env, paths []string, flag, written string) (*Selection, error) {
	s, err := f.Selected(e, paths)
	if err != nil || written == "" || !s.Has(written) {
		return s, err
	}
	return nil, cli.Usage(anotherFile, "--%s names one of the inputs, %q", flag, written)
}

// Selected is like Select, but a missing input is an error. Commands use it if their result must
// include all inputs.
func (f *Flags) Selected(e *cli.Env, paths []string) (*Selection, error) {
	s, err := f.Select(e, paths)
	if err != nil {
		return nil, err
	}
	if len(s.Missing) > 0 {
		return nil, s.Missing[0]
	}
	return s, nil
}

// Select selects the inputs, or stdin if there are no paths.
func (f *Flags) Select(e *cli.Env, paths []string) (*Selection, error) {
	kind, err := stream.ParseKind(f.input)
	if err != nil {
		return nil, cli.Usage("", "--input must be %s, found %q", cli.OrList(kindNames()), f.input)
	}

	if f.FilesFrom != "" {
		list, err := ReadList(e, f.FilesFrom)
		if err != nil {
			return nil, err
		}
		if paths = append(slices.Clip(paths), list...); f.FilesFrom == cli.StdinName && slices.Contains(paths, cli.StdinName) {
			return nil, cli.Usage("", "stdin is specified twice, but can be read only once")
		}
	}

	// If stdin is a terminal, the user probably forgot to specify a path.
	if len(paths) == 0 {
		if file, ok := e.In.(*os.File); ok && cli.IsTerminal(file) {
			return nil, cli.Usage("specify a file, or - for stdin, or run receipt init", "no receipt was specified")
		}
		paths = []string{cli.StdinName}
	}

	return SelectSources(e, paths, kind)
}
