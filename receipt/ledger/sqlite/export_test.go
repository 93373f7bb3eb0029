package sqlite

import (
	"context"
	"database/sql"
)

// OpenSteps opens a ledger (in the mode "rw" or "ro") in the same way as a program with the given
// migration steps.
func OpenSteps(ctx context.Context, path, mode string, steps []string) (*Ledger, error) {
	return open(ctx, path, mode, steps)
}

// Migrations returns the migrations of this program.
func Migrations() []string { return migrations() }

// Writing returns the connection that is used for writes.
func (l *Ledger) Writing() *sql.DB { return l.write }

// VersionError is the type of the error for a file with another version.
type VersionError = versionError
