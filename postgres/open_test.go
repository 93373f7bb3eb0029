package postgres_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/postgres"
	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// TestRefused verifies that a database is rejected if it has no ledger or a different version, or
// if the server may lose committed data. It also verifies that an existing ledger is not created
// again.
func TestRefused(t *testing.T) {
	server := pgserver.Start(t)
	address := create(t, server)
	want := func(what string, err error, text string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, expected %q", what, err, text)
		}
	}

	_, err := postgres.Open(t.Context(), server.Database(t, "nothing"))
	want("no ledger", err, "the database has no ledger")
	_, err = postgres.Create(t.Context(), address)
	want("create again", err, "the database already has a ledger")
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("create again: %v, expected fs.ErrExist", err)
	}

	reading, err := postgres.Driver().Open(t.Context(), address, false)
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	_, err = (&ledger.Issuer{Store: reading, KeepSecrets: true, Unsigned: true}).Issue(t.Context(), storetest.Draft("receipt_1", "w"))
	want("write to a ledger that is open for reading", err, "read-only transaction")
	if !errors.Is(err, ledger.ErrNotStored) {
		t.Errorf("write to a ledger that is open for reading: %v, expected ErrNotStored", err)
	}

	if err := pgserver.Exec(address, "ALTER TABLE ledger DROP CONSTRAINT ledger_version_check; UPDATE ledger SET version = 2"); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), address)
	want("a later version", err, "the ledger has version 2, this program supports version 1")

	if err := pgserver.Exec(address, "UPDATE ledger SET version = 1"); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	server.Restart(t, "fsync=off")
	_, err = postgres.Open(t.Context(), address)
	want("without fsync", err, "the server has fsync turned off")
}

// TestDamaged verifies that rows altered in the database are rejected and are found by a check of
// the ledger.
func TestDamaged(t *testing.T) {
	server := pgserver.Start(t)
	for what, test := range map[string]struct {
		statement string
		code      string
	}{
		"head":   {"UPDATE ledger_streams SET head = sha256('')", string(receipt.CodeHeadMismatch)},
		"count":  {"UPDATE ledger_streams SET count = 1", string(receipt.CodeHeadMismatch)},
		"gone":   {"DELETE FROM ledger_receipts WHERE position = 2", ledger.FaultMissing},
		"id":     {"UPDATE ledger_receipts SET receipt_id = 'x' WHERE position = 2", ""},
		"hash":   {"UPDATE ledger_receipts SET hash = sha256('') WHERE position = 2", ledger.FaultRow},
		"last":   {"UPDATE ledger SET last = 3", "none"},
		"stream": {"UPDATE ledger_streams SET workspace = 'v'", ledger.FaultRow},
	} {
		address := create(t, server)
		l := open(t, address)
		issuer := &ledger.Issuer{Store: l, KeepSecrets: true, Unsigned: true}
		var last *receipt.Sealed
		for _, id := range []string{"receipt_1", "receipt_2"} {
			var err error
			if last, err = issuer.Issue(t.Context(), storetest.Draft(id, "w")); err != nil {
				t.Fatal(err)
			}
		}
		if err := pgserver.Exec(address, test.statement); err != nil {
			t.Fatal(err)
		}

		if faults, _ := checked(t, l).([]any); len(faults) != 2 || faults[1].(ledger.Checked).Faults == 0 {
			t.Errorf("%s: a check finds %v, expected a fault", what, faults)
		}

		_, headErr := l.Head(t.Context(), last.Stream())
		_, getErr := ledger.Get(t.Context(), l, "receipt_2")
		third, err := receipt.Seal(storetest.Draft("receipt_3", "w"), last.Head())
		if err != nil {
			t.Fatal(err)
		}
		appendErr := l.Append(t.Context(), ledger.Run{Stream: last.Stream(), Previous: last.Head(), Receipts: []*receipt.Sealed{third}})
		found := func(err error) bool {
			damage, ok := errors.AsType[*ledger.Fault](err)
			return ok && damage.Code == test.code
		}
		switch test.code {
		case string(receipt.CodeHeadMismatch), ledger.FaultMissing:
			if !found(headErr) || !found(appendErr) || !errors.Is(appendErr, ledger.ErrNotStored) {
				t.Errorf("%s: Head returns %v, Append %v, expected damage with the code %s", what, headErr, appendErr, test.code)
			}
		case "none":
		case "":
			if !errors.Is(getErr, ledger.ErrNotFound) {
				t.Errorf("%s: Get returns %v, expected ErrNotFound", what, getErr)
			}
		default:
			if !found(getErr) {
				t.Errorf("%s: Get returns %v, expected damage with the code %s", what, getErr, test.code)
			}
		}
	}
}

// TestSettings verifies that a connection waits until data is on disk, even if that is not the
// server's default, and does not hold locks forever.
func TestSettings(t *testing.T) {
	l := open(t, create(t, pgserver.Start(t)))
	for name, want := range map[string]string{"synchronous_commit": "on", "idle_in_transaction_session_timeout": "1min"} {
		if got := l.Setting(t, name); got != want {
			t.Errorf("%s is %q, expected %q", name, got, want)
		}
	}
}
