package sqlite

import (
	"context"
	"database/sql"
)

// OpenSteps opens a ledger, rw or ro, as a program does whose migrations are steps.
func OpenSteps(ctx context.Context, path, mode string, steps []string) (*Ledger, error) {
	return open(ctx, path, mode, steps)
}

// Migrations returns the migrations of this program.
func Migrations() []string { return migrations() }

// Writing returns the connection for writes.
func (l *Ledger) Writing() *sql.DB { return l.write }

// VersionError is the error for a file of another version.
type VersionError = versionError
