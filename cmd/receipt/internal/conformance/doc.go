// Package conformance contains the command "conformance". Its subcommand "conformance run" runs a
// verifier on the cases of a corpus. Its subcommand "conformance answer" is a verifier that
// "conformance run" can run.
//
// A verifier is a command that is run once per case, with the file of the case as its last
// argument. Its exit status is 0 (valid), 1 (invalid), or 2 (undecidable). The last non-empty line
// of its stdout is {"verdict": …, "code": …}, and the verdict must match the exit status. Any other
// status means that there is no answer. The README of fixtures/corpus specifies the cases.
package conformance

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// A Line runs one command line of receipt, and returns its exit code.
type Line func(ctx context.Context, args []string, e *cli.Env) int

// New returns the command "receipt conformance". Its subcommand "answer" verifies by running
// command lines of receipt.
func New(e *cli.Env, line Line) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "conformance COMMAND",
		Short: "run verifiers on a corpus of cases",
		Long:  `Run verifiers in any language on cases with known outcomes.`,
		Example: `  receipt conformance run --corpus fixtures/corpus --subject batch -- receipt conformance answer
  receipt conformance answer fixtures/corpus/cases/v221aee9911ae9911.json`,
	}, newRun(e), newAnswer(e, line))
}
