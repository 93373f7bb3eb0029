package logs

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// NewLedger makes the verb ledger, which shows receipts as show does.
func NewLedger(e *cli.Env, show Shower) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger VERB",
		Short: "issue receipts into a durable store, and check it",
		Long: `Keep receipts in one SQLite file, and issue them there so that none is lost and no
chain forks, whatever crashes and however many processes issue at once.

The file has a view for people: sqlite3 ledger.db 'SELECT * FROM receipt'.`,
		Example: `  receipt ledger issue ledger.db draft.json --key issuer.private.json
  receipt ledger fsck ledger.db --keys keys.json`,
		Args: cobra.ArbitraryArgs,
		RunE: issue.ExpectVerb,
	}

	cmd.AddCommand(newLedgerInit(e), newLedgerIssue(e), newLedgerSign(e), newLedgerImport(e), newLedgerExport(e), newLedgerList(e), newLedgerShow(e, show), newLedgerFsck(e), newLedgerHead(e), newLedgerPrune(e),
		newLedgerCheckpoint(e), newLedgerProve(e), newLedgerConsistency(e))
	return cmd
}

// ledgerFile is the first argument of each of the verbs.
func ledgerFile(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usage(cmd.CommandPath()+" --help has examples", "expected the FILE of a ledger")
	}
	if args[0] == cli.StdinName {
		return cli.Usage("", "a ledger is a file, found -")
	}
	return nil
}

func onlyLedgerFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.Usage(cmd.CommandPath()+" --help has examples", "expected one FILE, found %d", len(args))
	}
	return ledgerFile(cmd, args)
}

func newLedgerInit(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "init FILE",
		Short: "make an empty ledger",
		Long: `Make an empty ledger. A file that exists is left as it is. FILE-head beside it says
where the ledger ends, so that a copy that lacks something is found out. While it is
in use FILE-wal, with its newest receipts, and FILE-shm lie there, too: copy it with
sqlite3's .backup, not with cp. It must not be on a network file system.`,
		Example: `  receipt ledger init receipts.db
  receipt ledger init 2026.sqlite`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := ledger.Create(cmd.Context(), args[0])
			var exists *fs.PathError
			if errors.Is(err, fs.ErrExist) && errors.As(err, &exists) && exists.Path != args[0] {
				return cli.Usage("restore the ledger that it belongs to, or move it away", "%q is left of a ledger that was here", exists.Path)
			} else if errors.Is(err, fs.ErrExist) {
				return cli.Usage("a ledger is made once: receipt ledger issue adds to it", "%q exists already", args[0])
			} else if err != nil {
				return cli.Usage("", "%w", input.LedgerReason(err))
			}

			if err := l.Close(); err != nil {
				return cli.Usage("", "%w", err)
			}
			_, err = fmt.Fprintf(e.Out, "ledger       %s, readable by its owner only\n", cli.EscapeLine(args[0]))
			return err
		},
	}
}

// ledgerReading words an error of reading a ledger: one that holds something else than
// what was stored is refuted, by whichever verb finds it.
func ledgerReading(err error) error {
	var damage *ledger.DamageError
	if errors.As(err, &damage) {
		what := "the ledger"
		if damage.ID != "" {
			what = fmt.Sprintf("receipt %q of the ledger", damage.ID)
		}
		return cli.Refuted("receipt ledger fsck tells what is damaged", "%s: %s is damaged: %s", damage.Code, what, damage.Detail)
	}
	return cli.Usage(input.LedgerHint(err), "%w", err)
}

// prunedFailure words that a receipt is in an archive: nothing is false, and it is not
// here.
func prunedFailure(err *ledger.PrunedError) error {
	return cli.Usage("receipt verify --checkpoint checks the archive", "receipt %q was pruned: %q has it (%v), under the checkpoint of %q over %s",
		err.ID, err.Pruning.Archive, err.Pruning.Digest, err.Pruning.Origin(), trust.LeavesText(err.Pruning.Size))
}
