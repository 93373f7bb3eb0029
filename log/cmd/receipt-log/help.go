package main

import (
	"bytes"
	"io"
	"regexp"

	"github.com/spf13/cobra"
)

// helpTo returns a help function that writes the text of another one without the placeholders at
// the end of usage texts, because pflag also prints them next to the flags.
func helpTo(out io.Writer, help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	placeholder := regexp.MustCompile(`(?m) \([A-Z:]+\)( \(default .*\))?$`)
	return func(cmd *cobra.Command, args []string) {
		var b bytes.Buffer
		cmd.SetOut(&b)
		help(cmd, args)
		_, _ = out.Write(placeholder.ReplaceAll(b.Bytes(), []byte("$1")))
	}
}
