package logs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type ledgerPruneOptions struct{ checkpoint, archive, keys string }

func newLedgerPrune(e *cli.Env) *cobra.Command {
	var o ledgerPruneOptions
	cmd := &cobra.Command{
		Use:   "prune [FILE] --checkpoint FILE --archive FILE",
		Short: "remove archived receipts from a ledger",
		Long: `Remove the content of the oldest receipts from a ledger. The checkpoint must
cover exactly the first receipts, and be signed by a trusted key of its log. The
archive must contain the receipts that were not pruned before, as receipt ledger
export writes them. IDs, hashes, and positions are kept, so chains, proofs, and
later checkpoints do not change.`,
		Example: `  receipt ledger prune april.db --checkpoint week.txt --archive week.jsonl --keys keys.json
  receipt ledger list april.db --pruned`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args[0]) },
	}

	f := cmd.Flags()
	f.StringVar(&o.checkpoint, "checkpoint", "", "checkpoint of the first receipts (`FILE`)")
	f.StringVar(&o.archive, "archive", "", "archive: JSON lines or a CBOR sequence (`FILE`)")
	f.StringVarP(&o.keys, "keys", "k", "", "trusted keys (`FILE`)")
	return cmd
}

func (o *ledgerPruneOptions) run(ctx context.Context, e *cli.Env, path string) error {
	switch {
	case o.checkpoint == "" || o.archive == "":
		return cli.Usage("create the checkpoint with receipt batch checkpoint LEDGER --until TIME, then the archive with receipt ledger export LEDGER --checkpoint FILE", "both --checkpoint FILE and --archive FILE are required")
	case o.archive == cli.StdinName:
		return cli.Usage("", "--archive must be a file, not -")
	}

	file, err := trust.ReadKeys(e, o.keys)
	if err != nil {
		return err
	}
	head, err := trust.ReadHead(e, o.checkpoint, receipt.Logs(file.Set))
	if err != nil {
		return err
	}
	a, err := openArchive(e, o.archive)
	if err != nil {
		return err
	}
	defer a.file.Close()

	l, err := input.OpenLedger(ctx, e, path, true)
	if err != nil {
		return err
	}
	defer l.Close()
	path = input.LedgerName(path)

	// No lock is held during the comparison.
	progress := a.Begin(e, "comparing", "pruning")
	defer progress.End()
	var found addresses
	p, err := ledger.Prunable(ctx, l, file.Set, head.Note, documents(ctx, a.Selection, false, &found))
	if err != nil {
		return pruneFailure(err, path, &found, head)
	}

	// The archive is synced before the ledger is pruned, because it becomes the only copy.
	digest, err := a.finish()
	if err != nil {
		return cli.Usage("", "%q: %w", o.archive, cli.Reason(err))
	}
	progress.Pass(1, 0, 0)
	n, err := ledger.Prune(ctx, l, p, filepath.Base(o.archive), digest)
	if err != nil {
		return pruneFailure(err, path, &found, head)
	}

	return o.tell(e, n, head, digest)
}

func (o *ledgerPruneOptions) tell(e *cli.Env, n int64, head *trust.Head, digest canon.Digest) error {
	if n == 0 {
		_, err := fmt.Fprintf(e.Out, "pruned       0 receipts: the %s that the checkpoint covers were pruned before\n", trust.LeavesText(head.Size))
		return err
	}
	_, err := fmt.Fprintf(e.Out, "pruned       %s, archived in %s (%v)\ncheckpoint   %s over %s\n", cli.Plural(int(n), "receipt", ""),
		cli.EscapeLine(fmt.Sprintf("%q", filepath.Base(o.archive))), digest, cli.EscapeLine(head.Origin), head)
	return err
}

// An archived file is a file whose digest is computed while it is read.
type archived struct {
	*input.Selection
	file *os.File
	sum  hash.Hash
}

func openArchive(e *cli.Env, path string) (*archived, error) {
	if _, known := input.SizeOf(path); !known {
		if _, err := os.Stat(path); err != nil {
			return nil, input.ReadError(path, err)
		}
		return nil, cli.Usage("", "%q is not a regular file", path)
	}

	// The file is opened only once, so that the digest covers exactly the bytes that are compared.
	s, err := input.SelectSources(e, []string{path}, stream.Sniffed)
	if err != nil {
		return nil, err
	}
	a := &archived{Selection: s, sum: sha256.New()}
	if a.file, err = os.Open(path); err != nil {
		return nil, input.ReadError(path, err)
	}
	s.Sources[0].Open = func() (io.ReadCloser, error) {
		return io.NopCloser(io.TeeReader(a.file, a.sum)), nil
	}
	return a, nil
}

// finish syncs the archive to disk, and returns the digest of the entire file.
func (a *archived) finish() (digest canon.Digest, err error) {
	if _, err := io.Copy(a.sum, a.file); err != nil {
		return digest, err
	}
	if err := a.file.Sync(); err != nil {
		return digest, err
	}
	cli.SyncFolder(a.file.Name()) // the file may have been renamed recently
	return canon.Digest(a.sum.Sum(nil)), nil
}

// pruneFailure describes why nothing was pruned.
func pruneFailure(err error, path string, found *addresses, head *trust.Head) error {
	var refused *ledger.PruneError
	var told *cli.Failure
	switch {
	case errors.As(err, &told):
		return told
	case errors.As(err, &refused) && refused.Index > 0:
		return cli.Refuted("receipt ledger export "+cli.ShellFile(path)+" --checkpoint "+cli.ShellFile(cli.SourceName(head.Path))+" -o ARCHIVE writes the archive that is needed", "%s: %s; nothing was pruned", found.place(refused.Index), refused.Detail)
	case errors.As(err, &refused) && refused.Code == receipt.CodeUnknownKey:
		return cli.Undecided("use trusted keys that contain the key of the log, with the role checkpoint and its origin", "%s: %q: %s; nothing was pruned", refused.Code, cli.SourceName(head.Path), refused.Detail)
	case errors.As(err, &refused):
		return cli.Refuted("use a checkpoint of the first receipts of this ledger, from receipt batch checkpoint LEDGER --until TIME", "%s: %q: %s; nothing was pruned", refused.Code, cli.SourceName(head.Path), refused.Detail)
	case errors.As(err, new(*ledger.Fault)):
		return input.LedgerReading(err)
	case errors.Is(err, ledger.ErrPruneChanged):
		return cli.Usage("export the receipts again, and prune with the new archive", "another process pruned or signed receipts; nothing was pruned")
	}
	return cli.Usage(input.LedgerHint(err), "%w", err)
}
