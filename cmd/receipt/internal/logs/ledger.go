package logs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// NewLedger returns the command "receipt ledger". Its subcommand "show" prints receipts by calling
// show.
func NewLedger(e *cli.Env, show Shower) *cobra.Command {
	below := []*cobra.Command{newLedgerIssue(e), newLedgerSign(e), newLedgerImport(e), newLedgerExport(e), newLedgerList(e), newLedgerShow(e, show), newLedgerFsck(e), newLedgerHead(e), newLedgerPrune(e),
		newLedgerHeartbeat(e), newLedgerClose(e), newCheckpoint(e, true), newProve(e, true)}
	for _, cmd := range below {
		ofDefault(e, cmd)
	}
	return cli.Group(&cobra.Command{
		Use:   "ledger COMMAND",
		Short: "issue receipts into a durable store, and check it",
		Long: `Store receipts in one SQLite file (default: that of receipt init). Issued
receipts are never lost and chains never fork, even if processes crash or compete.`,
		Example: `  receipt ledger issue ledger.db draft.json --key issuer.private.json
  receipt ledger fsck ledger.db --keys keys.json`,
	}, append(below, newLedgerInit(e), newConsistency(e, true))...)
}

// ofDefault makes a command use the default ledger if the argument FILE is absent. The commands
// "show" and "sign" also have arguments that identify receipts. Therefore, their first argument is
// treated as FILE only if it is a path or the name of a file.
func ofDefault(e *cli.Env, cmd *cobra.Command) {
	validate, run := cmd.Args, cmd.RunE
	cmd.Args = nil // the defaults are read later
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		missing := len(args) == 0
		if name := cmd.Name(); name == "sign" && !missing || name == "show" && len(args) == 1 {
			missing = input.MayBeID(e, args[0])
		}
		if missing && e.Defaults.Ledger != "" {
			args = slices.Insert(args, 0, e.Defaults.Ledger)
		}
		if err := validate(cmd, args); err != nil {
			return err
		}
		if err := input.KeepRead(cmd, args); err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// ledgerFile validates the first argument of all subcommands.
func ledgerFile(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usage(cmd.CommandPath()+" --help has examples", "expected the FILE of a ledger")
	}
	if args[0] == cli.StdinName {
		return cli.Usage("", "a ledger must be a file, not -")
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
		Short: "create an empty ledger",
		Long: `Create an empty ledger. FILE-head records where it ends, so that an incomplete
copy is detected. Copy a ledger with sqlite3's .backup, because FILE-wal contains
its newest receipts. It must not be on a network file system.`,
		Example: `  receipt ledger init receipts.db
  receipt ledger init 2026.sqlite`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := input.LedgerName(args[0])
			l, file, err := input.CreateLedger(cmd.Context(), e, args[0])
			var exists *fs.PathError
			if errors.Is(err, fs.ErrExist) && errors.As(err, &exists) && exists.Path != strings.TrimPrefix(args[0], "sqlite:") {
				return cli.Usage("restore that ledger, or move the file away", "%q remains from a ledger that no longer exists", exists.Path)
			} else if errors.Is(err, fs.ErrExist) {
				return cli.Usage("add receipts to it with receipt ledger issue", "%q exists already", name)
			} else if err != nil {
				return cli.Usage("", "%w", input.LedgerReason(err))
			}

			if err := l.Close(); err != nil {
				return cli.Usage("", "%w", err)
			}
			readable := ""
			if file {
				readable = ", readable only by its owner"
			}
			_, err = fmt.Fprintf(e.Out, "ledger       %s%s\n", cli.EscapeLine(name), readable)
			return err
		},
	}
}

// onLedger returns a function for a command whose first argument is a ledger. The function opens
// the ledger for reading, and passes it to run.
func onLedger(e *cli.Env, run func(ctx context.Context, e *cli.Env, l ledger.Database, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		l, err := input.OpenLedger(cmd.Context(), e, args[0], false)
		if err != nil {
			return err
		}
		defer l.Close()
		return run(cmd.Context(), e, l, args)
	}
}

// prunedFailure reports that a receipt is in an archive. Nothing is invalid, but the ledger no
// longer contains the receipt.
func prunedFailure(err *ledger.PrunedError) error {
	return cli.Usage("check the archive with receipt verify --checkpoint", "receipt %q was pruned: it is in %q (%v), and in the checkpoint of %q that covers %s",
		err.ID, err.Pruning.Archive, err.Pruning.Digest, err.Pruning.Origin(), trust.LeavesText(err.Pruning.Size))
}

func newLedgerHead(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "head [FILE]",
		Short: "print the heads of a ledger's streams",
		Long: `Print the head of each stream, one per line: hash of the last receipt, number of
receipts, stream. Keep the output elsewhere, to detect later whether receipts
were removed (receipt ledger fsck --expect-head).`,
		Example: `  receipt ledger head ledger.db
  receipt ledger head ledger.db >heads.txt`,
		Args: onlyLedgerFile,
		RunE: onLedger(e, ledgerHead),
	}
}

func ledgerHead(ctx context.Context, e *cli.Env, l ledger.Database, _ []string) error {
	streams, err := ledger.Heads(ctx, l)
	if err != nil {
		return input.LedgerReading(err)
	}
	for _, s := range streams {
		if _, err := fmt.Fprintf(e.Out, "%v %d %s\n", s.Head.Hash, s.Head.Count, cli.EscapeLine(input.StreamText(s.Stream))); err != nil {
			return err
		}
	}
	return nil
}

// A Shower prints one receipt in readable form, as the show command does. The parameter name
// identifies the source, and judge is the command that verifies signatures.
type Shower func(e *cli.Env, name string, data []byte, judge string) error

func newLedgerShow(e *cli.Env, show Shower) *cobra.Command {
	return &cobra.Command{
		Use:   "show [FILE] ID",
		Short: "print a stored receipt in readable form",
		Long: `Print the receipt of a ledger with this receipt_id, or a unique prefix of one.
Its signatures are not checked.`,
		Example: `  receipt ledger show april.db receipt_01K0TASK
  receipt ledger show april.db receipt_01K0TASK | head -n 1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usage("list the receipts with receipt ledger list FILE", "expected FILE and the receipt_id of one receipt")
			}
			return ledgerFile(cmd, args)
		},
		RunE: onLedger(e, show.ledger),
	}
}

// ledger prints a receipt from a ledger.
func (show Shower) ledger(ctx context.Context, e *cli.Env, l ledger.Database, args []string) error {
	path := input.LedgerName(args[0])
	id, err := input.FindID(ctx, l, args[1])
	if err != nil {
		return err
	}
	sealed, err := ledger.Get(ctx, l, id)
	var refutation *receipt.RefutedError
	var pruned *ledger.PrunedError
	switch {
	case errors.As(err, &pruned):
		return prunedFailure(pruned)
	case errors.Is(err, ledger.ErrNotFound):
		return cli.Usage("receipt ledger list "+cli.ShellFile(path)+" lists the stored receipts", "the ledger has no receipt %q", id)
	case errors.As(err, &refutation):
		return cli.Refuted("list the damage with receipt ledger fsck", "receipt %q: %w", id, err)
	case err != nil:
		return input.LedgerReading(err)
	}

	newer, err := successors(ctx, l)
	if err != nil {
		return err
	}
	if by := newer.of(sealed.Document().Root(), sealed.Hash()); by != "" {
		e.Note("this receipt is superseded by %s", by)
	}
	return show(e, path, sealed.JSON(), "receipt ledger fsck "+cli.ShellFile(path))
}

func newLedgerSign(e *cli.Env) *cobra.Command {
	var key trust.KeyFlags
	cmd := &cobra.Command{
		Use:   "sign [FILE] ID… --key KEY",
		Short: "add a signature to stored receipts",
		Long: `Add a signature to receipts of a ledger, named by their receipt_id, as their
issuer or as a witness. Each receipt is checked first, and printed when signed. A run can be repeated.`,
		Example: `  receipt ledger sign april.db receipt_01K0TASK --key issuer.private.json
  receipt ledger sign april.db receipt_01K0TASK --key issuer.pem --key-id key_1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return cli.Usage(cmd.CommandPath()+" --help has examples", "expected the receipt_id of a receipt")
			}
			return ledgerFile(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := key.Required(); err != nil {
				return err
			}
			return ledgerSign(cmd.Context(), e, &key, args[0], args[1:])
		},
	}

	key.Add(cmd)
	return cmd
}

func ledgerSign(ctx context.Context, e *cli.Env, key *trust.KeyFlags, path string, ids []string) error {
	signing, err := key.Open(ctx, e)
	if err != nil {
		return err
	}

	l, err := input.OpenLedger(ctx, e, path, true)
	if err != nil {
		return err
	}
	defer l.Close()

	// Each receipt is printed after it is stored, so an interrupted run can be repeated.
	signer := signing
	for _, text := range ids {
		id, err := input.FindID(ctx, l, text)
		if err != nil {
			return err
		}
		signed, err := ledger.Sign(ctx, l, id, signer)
		if err != nil {
			return ledgerSigning(id, err)
		}
		if _, err := e.Out.Write(append(signed.JSON(), '\n')); err != nil {
			return err
		}
	}

	return nil
}

func ledgerSigning(id string, err error) error {
	var refutation *receipt.RefutedError
	var undecided *receipt.UndecidedError
	var damage *ledger.Fault
	var pruned *ledger.PrunedError
	switch {
	case errors.As(err, &pruned):
		return prunedFailure(pruned)
	case errors.Is(err, ledger.ErrNotFound):
		return cli.Usage("list the receipts with receipt ledger list", "the ledger has no receipt %q", id)
	case errors.As(err, &damage):
		return input.LedgerReading(err)
	case errors.As(err, &refutation):
		return cli.Refuted("list the damage with receipt ledger fsck", "receipt %q must not be signed: %w", id, err)
	case errors.As(err, &undecided):
		return cli.Undecided("", "receipt %q cannot be signed: %w", id, err)
	}
	return cli.Usage("repeat the command; receipts that are already signed do not change", "receipt %q: %w", id, err)
}
