package input

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// TestLedgerAddresses verifies that a ledger can be opened by its path, by sqlite:PATH, and by the
// driver for its URL scheme.
func TestLedgerAddresses(t *testing.T) {
	missing := errors.New("no server")
	var asked []string
	e := &cli.Env{Drivers: []ledger.Driver{{
		Scheme: "test",
		Open: func(_ context.Context, address string, write bool) (ledger.Database, error) {
			asked = append(asked, address)
			return nil, missing
		},
		Create: func(_ context.Context, address string) (ledger.Database, error) {
			asked = append(asked, address)
			return nil, fs.ErrExist
		},
	}}}

	path := filepath.Join(t.TempDir(), "ledger.db")
	l, file, err := CreateLedger(t.Context(), e, "sqlite:"+path)
	if err != nil || !file {
		t.Fatal(file, err)
	}
	l.Close()
	for _, address := range []string{path, "sqlite:" + path} {
		if l, err = OpenLedger(t.Context(), e, address, true); err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		l.Close()
	}

	if _, err := OpenLedger(t.Context(), e, "test://host/name", false); !errors.Is(err, missing) {
		t.Errorf("of a driver: %v", err)
	}
	if _, file, err := CreateLedger(t.Context(), e, "test://host/name"); !errors.Is(err, fs.ErrExist) || file {
		t.Errorf("of a driver: %v, %v", file, err)
	}
	if len(asked) != 2 {
		t.Errorf("the driver was asked for %q, expected twice its address", asked)
	}
	if _, err := OpenLedger(t.Context(), e, "other://me:hunter2@host/name?password=hunter2", false); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("of no driver: %v", err)
	}
}

// TestLedgerName verifies that messages about a ledger contain no password.
func TestLedgerName(t *testing.T) {
	for address, want := range map[string]string{
		"ledger.db":     "ledger.db",
		"sqlite:a b.db": "sqlite:a b.db",
		"postgres://me:hunter2@host:5432/name?x=y":  "postgres://me@host:5432/name",
		"postgres://host/name?password=hunter2":     "postgres://host/name",
		"postgres://me:%zzhunter2@host/name?x=y":    "postgres://host/name",
		"postgres://me:hunter2@@host:x/name#secret": "postgres://host:x/name#secret",
	} {
		if got := LedgerName(address); got != want {
			t.Errorf("%s: %q, expected %q", address, got, want)
		}
	}
}
