package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// These are PostgreSQL error codes (appendix A of its manual).
const (
	undefinedTable  = "42P01"
	duplicateTable  = "42P07"
	uniqueViolation = "23505"
	readOnly        = "25006"
)

// codeOf returns the server's code for an error, or "" if the error is not from the server.
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// wrap adds the operation and the database to an error, and the reason if a context has ended.
// Errors from package ledger are returned unchanged.
func (l *Ledger) wrap(ctx context.Context, what string, err error) error {
	switch {
	case err == nil, errors.Is(err, ledger.ErrHeadMoved), errors.Is(err, ledger.ErrDuplicateID), errors.Is(err, ledger.ErrNotFound),
		errors.As(err, new(*ledger.Fault)):
		return err
	}
	if ended := context.Cause(ctx); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("postgres: %s: %s: %w: %w", what, l.name, ended, err)
	}
	if codeOf(err) == readOnly {
		return fmt.Errorf("postgres: %s: %s: %w: %w", what, l.name, errors.ErrUnsupported, err)
	}
	return fmt.Errorf("postgres: %s: %s: %w", what, l.name, err)
}

// notStored returns the error for a transaction that was not committed.
func (l *Ledger) notStored(ctx context.Context, what string, err error) error {
	if errors.Is(err, ledger.ErrHeadMoved) || errors.Is(err, ledger.ErrDuplicateID) {
		return err
	}
	return fmt.Errorf("%w: %w", ledger.ErrNotStored, l.wrap(ctx, what, err))
}

// outcome returns the error for a transaction after its commit was sent. If the server rejected a
// statement, nothing was stored. After any other error, such as a lost connection or a server that
// shuts down, the outcome is unknown.
func (l *Ledger) outcome(ctx context.Context, what string, err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || e.SeverityUnlocalized != "ERROR" {
		return l.wrap(ctx, what, err)
	}
	if e.Code == uniqueViolation {
		switch e.ConstraintName {
		case "ledger_receipts_id":
			return ledger.ErrDuplicateID
		case "ledger_streams_name", "ledger_receipts_place", "ledger_receipts_previous":
			return ledger.ErrHeadMoved
		}
	}
	return l.notStored(ctx, what, err)
}
