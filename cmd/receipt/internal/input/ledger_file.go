package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// OpenLedger opens an existing ledger. It rejects an empty file, which may be the remains
// of an interrupted init or of a lost ledger. Starting a new ledger would then fork its
// chains.
func OpenLedger(ctx context.Context, path string, write bool) (*sqlite.Ledger, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil, cli.Usage("restore a copy of the lost ledger; if there was none, remove the file, and create a ledger with receipt ledger init", "%q is empty: it is not a ledger, or its contents were lost", path)
	}

	if f := KindOfFile(path); f.Kind != kind.Unknown && f.Kind != kind.Ledger && f.Kind != kind.Database {
		return nil, cli.Usage(nextHow(f.Kind, cli.ShellFile(path)), "%q is not a ledger: it is %s", path, f.What)
	}

	open := sqlite.OpenReadOnly
	if write {
		open = sqlite.Open
	}

	l, err := open(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := RefuseAddress(path); err != nil {
			return nil, err
		}
		return nil, cli.Usage("receipt ledger init makes one", "%q does not exist", path)
	case err != nil:
		return nil, cli.Usage(LedgerHint(err), "%w", LedgerReason(err))
	}

	return l, nil
}

// LedgerHint returns what to do about an error of a ledger.
func LedgerHint(err error) string {
	switch {
	case errors.As(err, new(*sqlite.ReplacedError)):
		return "list its contents with receipt ledger fsck FILE"
	case errors.Is(err, sqlite.ErrUnreadable):
		return "check whether any of it can be read with receipt ledger fsck FILE"
	}
	return ""
}

// LedgerReason adds the file to errors of the system. Other errors of a ledger name the
// file themselves.
func LedgerReason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%q: %w", p.Path, p.Err)
	}
	return err
}
