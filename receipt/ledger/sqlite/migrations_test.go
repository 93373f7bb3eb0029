package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// version1 creates a ledger from the stored SQL statements of a version 1 ledger.
func version1(t *testing.T) (path string) {
	t.Helper()
	text, err := os.ReadFile("testdata/version1.sql")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "ledger.db")
	execute(t, path, "PRAGMA journal_mode = WAL")
	execute(t, path, string(text))
	return path
}

// tables returns the complete content of a file as text: its version, its schema, and its rows.
func tables(t *testing.T, path string) (schema, rows []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read := func(query string) (list []string) {
		r, err := db.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for r.Next() {
			var text string
			if err := r.Scan(&text); err != nil {
				t.Fatal(err)
			}
			list = append(list, text)
		}
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		return list
	}
	schema = append(read("SELECT user_version FROM pragma_user_version"), read("SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_schema WHERE name <> 'sqlite_sequence' ORDER BY type, name")...)
	rows = append(read("SELECT concat_ws('|', id, issuer, tenant, workspace, hex(head), count) FROM streams ORDER BY id"),
		read("SELECT concat_ws('|', seq, stream, position, receipt_id, task, session, issued_at, hex(hash), hex(previous), json) FROM receipts ORDER BY seq")...)
	return schema, rows
}

// TestVersion1 verifies that a ledger created by the first version can be opened, has no faults,
// and can grow. The tables must match the tables that are created today, because a released
// migration step never changes.
func TestVersion1(t *testing.T) {
	ctx, path, v := context.Background(), version1(t), verifier(t, receipt.Policy{})
	_, before := tables(t, path)
	l, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err := ledger.Check(ctx, l, v, func(f ledger.Fault) { t.Errorf("%+v", f) }, nil); err != nil || c.Verified != 3 || len(c.Streams) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	got, after := tables(t, path)
	if !slices.Equal(before, after) {
		t.Errorf("the rows are\n%q, they were\n%q", after, before)
	}
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	made, err := sqlite.Create(ctx, fresh)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if want, _ := tables(t, fresh); !slices.Equal(got, want) {
		t.Errorf("the tables are\n%q\nnew ones are\n%q", got, want)
	}
	issuer := &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
	if again, err := issuer.Issue(ctx, draft("receipt_1", "garden")); err != nil || again.ID() != "receipt_1" {
		t.Errorf("again: %v, %v", again, err)
	}
	next, err := issuer.Issue(ctx, draft("receipt_4", "garden"))
	if err != nil {
		t.Fatal(err)
	}
	if head, err := l.Head(ctx, next.Stream()); err != nil || head.Count != 3 || head.Hash != next.Hash() {
		t.Errorf("%v, %v", head, err)
	}
	if page, _, err := ledger.List(ctx, l, ledger.Query{Task: "task_receipt_3"}, "", 9); err != nil || len(page) != 1 {
		t.Errorf("%v, %v", page, err)
	}
	if c, list := faults(t, path, v); c.Verified != 4 || len(list) > 0 {
		t.Errorf("%+v, %q", c, list)
	}
}

// TestNextVersion verifies how a later version of the program handles ledgers of this version, and
// how this version handles ledgers of a later version.
func TestNextVersion(t *testing.T) {
	ctx, path, v := context.Background(), version1(t), verifier(t, receipt.Policy{})
	_, before := tables(t, path)
	next := append(sqlite.Migrations(), "ALTER TABLE receipts ADD COLUMN note TEXT; CREATE INDEX receipts_note ON receipts (note);")
	var version *sqlite.VersionError
	early, err := sqlite.OpenSteps(ctx, path, "ro", next) // a backup can be checked without write permission
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	if c, err := ledger.Check(ctx, early, v, func(f ledger.Fault) { t.Errorf("an old one for reading: %+v", f) }, nil); err != nil || c.Verified != 3 {
		t.Errorf("an old one for reading: %+v, %v", c, err)
	}
	if page, _, err := ledger.List(ctx, early, ledger.Query{Task: "task_receipt_3"}, "", 9); err != nil || len(page) != 1 {
		t.Errorf("an old one for reading: %v, %v", page, err)
	}
	old, err := sqlite.Open(ctx, path) // this ledger stays open while another program migrates it
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	l, err := sqlite.OpenSteps(ctx, path, "rw", next)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	schema, after := tables(t, path)
	if schema[0] != "5" || !slices.Contains(schema, "index receipts_note CREATE INDEX receipts_note ON receipts (note)") || !slices.Equal(before, after) {
		t.Errorf("%q, %q", schema, after)
	}
	if c, err := ledger.Check(ctx, l, v, func(f ledger.Fault) { t.Errorf("%+v", f) }, nil); err != nil || c.Verified != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := (&ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}).Issue(ctx, draft("receipt_4", "garden")); err != nil {
		t.Error(err)
	}
	if _, err := (&ledger.Issuer{Store: old, Unsigned: true, KeepSecrets: true}).Issue(ctx, draft("receipt_5", "garden")); !errors.As(err, &version) {
		t.Errorf("an older one that was open: %v", err)
	}
	for name, open := range map[string]func(context.Context, string) (*sqlite.Ledger, error){"writing": sqlite.Open, "reading": sqlite.OpenReadOnly} {
		if _, err := open(ctx, path); !errors.As(err, &version) || version.Found != 5 || !strings.Contains(err.Error(), "has version 5, this program knows versions up to 4; use a newer one") {
			t.Errorf("a newer one for %s: %v", name, err)
		}
	}
}

// TestMigrationFails verifies that a failed migration leaves the file unchanged, byte for byte.
func TestMigrationFails(t *testing.T) {
	ctx, path := context.Background(), version1(t)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	schema, rows := tables(t, path)
	for _, steps := range [][]string{
		{"CREATE TABLE notes (text TEXT); UPDATE receipts SET task = 'x'; INSERT INTO nowhere VALUES (1)"},
		{"CREATE TABLE notes (text TEXT); DROP VIEW receipt", "DELETE FROM receipts; CREATE TABLE notes (text TEXT)"},
		{"UPDATE receipts SET position = 1"}, // against an index
	} {
		if l, err := sqlite.OpenSteps(ctx, path, "rw", append(sqlite.Migrations(), steps...)); err == nil || l != nil || !strings.Contains(err.Error(), fmt.Sprintf("bring it up to date: %q", path)) {
			t.Errorf("%q: %v", steps, err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: the file is another one, %v", steps, err)
		}
		if files, err := filepath.Glob(path + "-*"); err != nil || len(files) > 0 {
			t.Errorf("%q: other files remain: %q, %v", steps, files, err)
		}
		if s, r := tables(t, path); !slices.Equal(s, schema) || !slices.Equal(r, rows) {
			t.Errorf("%q: the tables are %q, %q", steps, s, r)
		}
	}
	l, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := (&ledger.Issuer{Store: l, Unsigned: true, KeepSecrets: true}).Issue(ctx, draft("receipt_4", "garden")); err != nil {
		t.Error(err)
	}
}

// TestSubjects verifies that the receipts of a task can be found by their subject in a ledger of
// the first version, both before and after its migration, even if receipts are damaged.
func TestSubjects(t *testing.T) {
	ctx, path := context.Background(), version1(t)
	execute(t, path, "UPDATE receipts SET json = CAST('{\"no receipt\"' AS BLOB) WHERE receipt_id = 'receipt_2'")
	r, err := receipt.Seal(func() *receipt.Draft {
		d := draft("receipt_9", "new")
		d.Subject.ID = "task_of_subject"
		return d
	}(), chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	hash := r.Hash()
	execute(t, path, fmt.Sprintf("INSERT INTO streams VALUES (9, 'harness_example_cloud', NULL, 'new', x'%x', 1)", hash[:]))
	execute(t, path, fmt.Sprintf("INSERT INTO receipts VALUES (9, 9, 1, 'receipt_9', 'task_receipt_9', 'session_1', %d, x'%x', NULL, CAST('%s' AS BLOB))", time.Date(2026, 4, 25, 19, 0, 0, 0, time.UTC).UnixMilli(), hash[:], r.JSON()))
	for n, open := range []func(context.Context, string) (*sqlite.Ledger, error){sqlite.OpenReadOnly, sqlite.Open, sqlite.OpenReadOnly} {
		l, err := open(ctx, path)
		if err != nil {
			t.Fatal(n, err)
		}
		for _, task := range []string{"task_of_subject", "task_receipt_9"} {
			if page, _, err := ledger.List(ctx, l, ledger.Query{Task: task}, "", 9); err != nil || len(page) != 1 || page[0].ID != "receipt_9" {
				t.Errorf("opening %d: %s: %v, %v", n, task, page, err)
			}
		}
		l.Close()
	}
}
