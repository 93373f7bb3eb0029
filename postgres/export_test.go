package postgres

import "testing"

// Setting returns the value of a connection setting.
func (l *Ledger) Setting(t *testing.T, name string) (value string) {
	t.Helper()
	if err := l.pool.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
