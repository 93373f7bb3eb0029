package browse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type options struct {
	trust.PolicyFlags
	addr, output string
	ledger       bool // the input is the default ledger
}

// New returns the command "receipt browse".
func New(e *cli.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "browse [INPUT]",
		Short: "search and read receipts in a web browser",
		Long: `Verify the receipts in a ledger (default: the default ledger), a directory, or a
file, or read a JSON report of verify, and serve a read-only view until
interrupted. Contents with a secret are omitted.

With --output, write files; the exit code is that of verify.`,
		Example: `  receipt browse --keys keys.json receipt.json --output site
  receipt browse --integrity-only receipt.json --output site`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && e.Defaults.Ledger != "" {
				args, o.ledger = []string{e.Defaults.Ledger}, true
			}
			if err := cli.ExactArgs(1, "one input")(cmd, args); err != nil {
				return err
			}
			return browse(cmd.Context(), e, args[0], &o)
		},
	}

	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.Keys, "keys", "k", "", "trusted keys (JWK Set) (`FILE`)")
	f.BoolVar(&o.IntegrityOnly, "integrity-only", false, "check only content and hashes")
	f.StringVar(&o.addr, "addr", "127.0.0.1:0", "loopback address to listen on (`HOST:PORT`)")
	f.StringVarP(&o.output, "output", "o", "", "new directory for the view (`DIR`)")
	return cmd
}

func browse(ctx context.Context, e *cli.Env, path string, o *options) error {
	if o.output != "" {
		return export(ctx, e, path, o)
	}

	host, err := loopback(o.addr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "receipt-browse-*") // only the owner can read the directory
	if err != nil {
		return cli.Usage("", "%w", err)
	}
	defer os.RemoveAll(dir)

	sum, err := write(ctx, e, path, dir, o)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.Text(), new(print.Totals).Line(sum))
	return serveDir(ctx, e, host, o.addr, dir)
}

// export writes the view of an input to a new directory.
func export(ctx context.Context, e *cli.Env, path string, o *options) error {
	if err := emptyDir(o.output); err != nil {
		return err
	}
	sum, err := write(ctx, e, path, o.output, o)
	if err != nil {
		_ = os.RemoveAll(filepath.Join(o.output, dataDir))
		_ = os.Remove(o.output) // fails unless the directory is empty
		return err
	}
	fmt.Fprintln(e.Text(), new(print.Totals).Line(sum))
	fmt.Fprintf(e.Text(), "view: %s\n", cli.EscapeLine(filepath.Join(o.output, "index.html")))
	return cli.ExitWith(cli.SummaryExit(sum))
}

// emptyDir creates a directory, or accepts an existing one that is empty.
func emptyDir(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return cli.Usage("", "%q: %w", dir, cli.Reason(err))
		}
		if len(entries) > 0 {
			return cli.Usage("specify a new directory", "%q is not empty", dir)
		}
		return nil
	}
	if err != nil {
		return cli.Usage("", "%q: %w", dir, cli.Reason(err))
	}
	return nil
}

// write verifies the input and writes its view.
func write(ctx context.Context, e *cli.Env, path, dir string, o *options) (*stream.Summary, error) {
	s, err := newSite(dir)
	if err != nil {
		return nil, err
	}
	sum, err := judge(ctx, e, path, o, s)
	if err != nil {
		return nil, err
	}
	return sum, s.end(sum)
}
