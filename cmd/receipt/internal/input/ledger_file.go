package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// sqliteScheme is the prefix of the address of a ledger file.
const sqliteScheme = "sqlite:"

// OpenLedger opens an existing ledger by its address: a path, sqlite:PATH, or the address of a
// driver.
func OpenLedger(ctx context.Context, e *cli.Env, address string, write bool) (ledger.Database, error) {
	if d := driverOf(e, address); d != nil {
		l, err := d.Open(ctx, address, write)
		if err != nil {
			return nil, cli.Usage("", "%w", err)
		}
		return l, nil
	}
	path, _ := LedgerFile(address)
	return openSQLite(ctx, path, write)
}

// CreateLedger creates a ledger at an address, and reports whether it is a file.
func CreateLedger(ctx context.Context, e *cli.Env, address string) (l ledger.Database, file bool, err error) {
	if d := driverOf(e, address); d != nil {
		l, err = d.Create(ctx, address)
		return l, false, err
	}
	if err := RefuseAddress(address); err != nil {
		return nil, false, err
	}
	path, _ := LedgerFile(address)
	l, err = sqlite.Create(ctx, path)
	return l, true, err
}

// LedgerFile returns the path in the address of a ledger, and reports whether the ledger is a file.
func LedgerFile(address string) (path string, file bool) {
	path = strings.TrimPrefix(address, sqliteScheme)
	return path, path != address || !strings.Contains(address, "://")
}

// IsLedger reports whether an argument is the address or the path of a ledger.
func IsLedger(e *cli.Env, address string) bool {
	path, _ := LedgerFile(address)
	return driverOf(e, address) != nil || path != address || KindOfFile(path).Kind == kind.Ledger
}

// driverOf returns the driver for an address, or nil for a file.
func driverOf(e *cli.Env, address string) *ledger.Driver {
	for i, d := range e.Drivers {
		if strings.HasPrefix(address, d.Scheme+"://") {
			return &e.Drivers[i]
		}
	}
	return nil
}

// openSQLite rejects an empty file, which may remain after an interrupted "receipt ledger init" or
// the loss of a ledger. A new ledger in such a file would fork the chains of the lost ledger.
func openSQLite(ctx context.Context, path string, write bool) (ledger.Database, error) {
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
		hint := "create a ledger with receipt ledger init"
		if _, lost := os.Lstat(path + "-head"); lost == nil {
			hint = "restore a copy of the lost ledger"
		}
		return nil, cli.Usage(hint, "%q does not exist", path)
	case err != nil:
		return nil, cli.Usage(LedgerHint(err), "%w", LedgerReason(err))
	}

	return l, nil
}

// LedgerName formats an address for messages. It omits the password and the parameters, which may
// also contain a password. A path is returned unchanged.
func LedgerName(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/\\. ") {
		return address
	}

	u, err := url.Parse(address)
	if err != nil {
		// The user and the password, if present, end at the last @.
		rest, _, _ = strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "?")
		return scheme + "://" + rest
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}

// EmptyLedger returns the failure for a command that needs a receipt if the ledger contains none.
func EmptyLedger(e *cli.Env, address string) error {
	return cli.Usage("record a session first: receipt record", "the ledger %q has no receipts", cli.Tilde(e, LedgerName(address)))
}

// LedgerReading describes an error that occurred while a ledger was read. A damaged ledger is
// refuted, regardless of which command finds the damage.
func LedgerReading(err error) error {
	var damage *ledger.Fault
	if errors.As(err, &damage) {
		what := "the ledger"
		if damage.ID != "" {
			what = fmt.Sprintf("receipt %q of the ledger", damage.ID)
		}
		return cli.Refuted("list the damage with receipt ledger fsck", "%s: %s is damaged: %s", damage.Code, what, damage.Detail)
	}
	return cli.Usage(LedgerHint(err), "%w", err)
}

// LedgerHint returns a hint for a ledger error.
func LedgerHint(err error) string {
	switch {
	case errors.As(err, new(*sqlite.ReplacedError)):
		return "list its contents with receipt ledger fsck FILE"
	case errors.Is(err, ledger.ErrUnreadable):
		return "find out what can be read with receipt ledger fsck FILE"
	}
	return ""
}

// LedgerReason adds the name of the file to system errors. Other ledger errors already contain the
// name of the file.
func LedgerReason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%q: %w", p.Path, p.Err)
	}
	return err
}
