package input

import (
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// anotherFile is the hint for an output that would take the place of an input.
const anotherFile = "name another file: --force is for what an earlier run wrote"

// KeepRead refuses an output that would take the place of what the run is told to read: a
// key, evidence, a receipt. --force is for what an earlier run wrote; a private key is
// nowhere else.
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
		return nil // what is not there cannot be lost
	}

	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "extends" || name == "disclosures" && f.Name == "output" {
			return // a checkpoint takes the place of the one that it contains; redact says why not of the other
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

// writtenBy are the flags that name what a verb writes. What redact withholds is read by
// the others.
func writtenBy(cmd *cobra.Command) []string {
	written := []string{"output", "report", "manifest", "private", "state"}
	if cmd.Name() == "redact" {
		return append(written, "disclosures")
	}
	return written
}

// inPlace reports a verb whose output may take the place of its input, or that says itself
// why it may not. What lists the receipts never may.
func inPlace(cmd *cobra.Command, name string) bool {
	return name != "manifest" && name != "state" && slices.Contains([]string{"seal", "sign", "redact", "cosign", "sanitize", "record", "verify"}, cmd.Name())
}

// valuesOf are the values of a flag that was given.
func valuesOf(f *pflag.Flag) []string {
	if f == nil || !f.Changed {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// fileOf is the file of an input or an address.
func fileOf(path string) (file string, oneOfMany bool) {
	if file, _, ok := Address(path); ok {
		return file, true
	}
	return path, false
}
