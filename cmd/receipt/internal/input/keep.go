package input

import (
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// anotherFile is the hint for an output that would overwrite an input.
const anotherFile = "use another file; --force only overwrites the output of an earlier run"

// KeepRead returns an error if an output would overwrite a file that the command reads, such as a
// key, evidence, or a receipt. The flag --force is only for overwriting the output of an earlier
// run. There may be no other copy of a private key.
func KeepRead(cmd *cobra.Command, args []string) error {
	for _, name := range writtenBy(cmd) {
		for _, written := range valuesOf(cmd.Flags().Lookup(name)) {
			if err := keepRead(cmd, args, name, written); err != nil {
				return err
			}
		}
	}
	return nil
}

func keepRead(cmd *cobra.Command, args []string, name, written string) (err error) {
	if info, none := os.Stat(written); none != nil || !info.Mode().IsRegular() {
		return nil // a file that does not exist cannot be lost
	}

	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "extends" || name == "disclosures" && f.Name == "output" {
			return // a checkpoint may replace the checkpoint that it extends, and "redact" itself reports the other case
		}
		for _, read := range valuesOf(f) {
			if file, _ := fileOf(read); err == nil && f.Name != name && cli.SameFile(file, written) {
				err = cli.Usage(anotherFile, "--%s and --%s name the same file, %q", f.Name, name, written)
			}
		}
	})
	for _, read := range args {
		file, oneOfMany := fileOf(read)
		if err == nil && (oneOfMany || !inPlace(cmd, name)) && cli.SameFile(file, written) {
			err = cli.Usage(anotherFile, "--%s names the input, %q", name, written)
		}
	}
	return err
}

// writtenBy returns the flags for the output files of a command. The command "redact" writes the
// file of --disclosures, while most other commands read it. The command "record" also writes this
// file, but checks it itself.
func writtenBy(cmd *cobra.Command) []string {
	written := []string{"output", "report", "manifest", "private", "state"}
	if cmd.Name() == "redact" {
		return append(written, "disclosures")
	}
	return written
}

// inPlace reports whether an output of the command may overwrite its input, or whether the command
// itself reports this error. A list of receipts must never overwrite the receipts.
func inPlace(cmd *cobra.Command, name string) bool {
	return name != "manifest" && name != "state" && slices.Contains([]string{"seal", "sign", "redact", "cosign", "sanitize", "record", "verify"}, cmd.Name())
}

// valuesOf returns the values of a flag that is set.
func valuesOf(f *pflag.Flag) []string {
	if f == nil || !f.Changed {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// fileOf returns the file that contains an input or an addressed receipt.
func fileOf(path string) (file string, oneOfMany bool) {
	if file, _, ok := Address(path); ok {
		return file, true
	}
	return path, false
}
