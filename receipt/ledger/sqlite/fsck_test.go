package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

func verifier(t testing.TB, policy receipt.Policy) *receipt.Verifier {
	t.Helper()
	data, err := fixtures.Read("keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, policy)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// filled creates a ledger with n receipts in each of two streams, and closes it.
func filled(t *testing.T, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger.db")
	made, _ := ledgers.LoadOrStore(n, sync.OnceValue(func() (files [2][]byte) {
		dir := t.TempDir()
		fill(t, filepath.Join(dir, "ledger.db"), n)
		for i, name := range filledFiles {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files[i] = data
		}
		return files
	}))
	for i, data := range made.(func() [2][]byte)() {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), filledFiles[i]), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// ledgers contains the ledgers that filled has created, indexed by n, so that tests can copy them.
var ledgers sync.Map

var filledFiles = [2]string{"ledger.db", "ledger.db-head"}

func fill(t *testing.T, path string, n int) {
	t.Helper()
	l, err := sqlite.Create(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	issuer := &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
	for i := range n {
		for _, workspace := range []string{"a", "b"} {
			if _, err := issuer.Issue(context.Background(), draft(workspace+"_"+string(rune('0'+i)), workspace)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// faults checks a ledger and returns its faults, one per line.
func faults(t *testing.T, path string, v *receipt.Verifier) (*ledger.Checked, []string) {
	t.Helper()
	return faultsOf(t, path, v, func(l *sqlite.Ledger) ledger.Reader { return l })
}

func faultsOf(t *testing.T, path string, v *receipt.Verifier, as func(*sqlite.Ledger) ledger.Reader) (*ledger.Checked, []string) {
	t.Helper()
	l, err := sqlite.OpenReadOnly(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var list []string
	c, err := ledger.Check(context.Background(), as(l), v, func(f ledger.Fault) {
		list = append(list, f.Code+" "+f.ID+" "+f.Detail)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Faults != len(list) {
		t.Errorf("%d faults are counted, %d were reported", c.Faults, len(list))
	}
	return c, list
}

// execute runs SQL on the file, as anyone with access to the file could.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestCheck(t *testing.T) {
	v := verifier(t, receipt.Policy{IntegrityOnly: true})
	c, list := faults(t, filled(t, 5), v)
	if len(list) != 0 || c.Receipts != 10 || c.Verified != 10 || c.Undecided != 0 || len(c.Streams) != 2 {
		t.Errorf("a sound ledger: %+v, %q", c, list)
	}
}

// TestCheckStrict verifies that the links between rows count for a strict policy, and that a
// receipt whose predecessor is missing is counted with the reason.
func TestCheckStrict(t *testing.T) {
	path, v := filled(t, 3), verifier(t, receipt.Policy{IntegrityOnly: true, Strict: true})
	if c, list := faults(t, path, v); len(list) != 0 || c.Verified != 6 || len(c.Codes) != 0 {
		t.Errorf("an intact ledger: %+v, %q", c, list)
	}

	execute(t, path, "DELETE FROM receipts WHERE receipt_id = 'a_1'")
	if c, _ := faults(t, path, v); c.Verified != 4 || c.Undecided != 1 || c.Codes[receipt.CodeLinkNotChecked] != 1 {
		t.Errorf("with a missing receipt: %+v", c)
	}
}

// TestCheckEnds verifies that the result names the only stream whose end FILE-head shows, and counts
// what the reports list as not checked. A removed end of another stream is not found.
func TestCheckEnds(t *testing.T) {
	path, v := filled(t, 3), verifier(t, receipt.Policy{IntegrityOnly: true})
	execute(t, path, `DELETE FROM receipts WHERE receipt_id = 'a_2';
		UPDATE streams SET count = 2, head = (SELECT hash FROM receipts WHERE receipt_id = 'a_1') WHERE workspace = 'a'`)
	c, list := faults(t, path, v)
	if len(list) != 0 || !c.Marked || c.Newest.Workspace != "b" || c.Receipts != 5 || c.Unchecked["signatures_not_checked"] != 5 || c.Unchecked[receipt.CodeLinkNotChecked] != 0 {
		t.Errorf("%+v, %q", c, list)
	}
}

// TestCheckReads verifies that the callback that receives a fault can read the ledger.
func TestCheckReads(t *testing.T) {
	ctx, path := context.Background(), filled(t, 3)
	execute(t, path, "UPDATE receipts SET session = 'x'")
	l, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	told, read := 0, []int{}
	if _, err := ledger.Check(ctx, l, verifier(t, receipt.Policy{}), func(f ledger.Fault) {
		told++
		if _, _, err := ledger.Linked(ctx, l, ledger.Key{ID: "absent"}); err != ledger.ErrNotFound {
			t.Error(err)
		}
	}, func(n int) { read = append(read, n) }); err != nil || told != 6 {
		t.Error(told, err)
	}
	if want := []int{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(read, want) {
		t.Errorf("the callback received %d receipts, expected %d", read, want)
	}
}

// TestCheckEdited verifies that rows edited with sqlite3 are detected and identified.
func TestCheckEdited(t *testing.T) {
	v := verifier(t, receipt.Policy{IntegrityOnly: true})
	for _, test := range []struct {
		edit string
		want []string // how the expected faults begin
	}{
		{"UPDATE receipts SET json = CAST(replace(CAST(json AS TEXT), 'SUCCEEDED', 'CANCELED') AS BLOB) WHERE receipt_id = 'a_2'", []string{"hash_mismatch a_2"}},
		{"UPDATE receipts SET json = x'7b' WHERE receipt_id = 'a_2'", []string{"syntax a_2"}},
		{"UPDATE receipts SET json = (SELECT json FROM receipts WHERE receipt_id = 'a_1') WHERE receipt_id = 'a_2'", []string{"ledger_row a_2 its row has another receipt_id", "ledger_row a_2 its row has another task", "ledger_row a_2 its row has another hash or previous"}},
		{"UPDATE receipts SET task = 'x' WHERE receipt_id = 'b_0'", []string{"ledger_row b_0 its row has another task"}},
		{"UPDATE receipts SET session = NULL WHERE receipt_id = 'b_0'", []string{"ledger_row b_0 its row has another session"}},
		{"UPDATE receipts SET issued_at = 5 WHERE receipt_id = 'b_4'", []string{"ledger_row b_4 its row has another issued_at"}},
		{"UPDATE receipts SET receipt_id = 'x' WHERE receipt_id = 'b_4'", []string{"ledger_row x its row has another receipt_id"}},
		{"UPDATE receipts SET hash = zeroblob(32) WHERE receipt_id = 'a_2'", []string{"ledger_row a_2 its row has another hash", "chain_break a_3"}},
		{"DELETE FROM receipts WHERE receipt_id = 'a_2'", []string{"ledger_missing  the receipt is gone"}},
		{"DELETE FROM receipts WHERE receipt_id = 'a_4'", []string{"ledger_missing  the receipt is gone"}},
		{"DELETE FROM receipts WHERE receipt_id = 'a_0'", []string{"ledger_missing  the receipt is gone"}},
		{"UPDATE streams SET head = zeroblob(32) WHERE workspace = 'a'", []string{"head_mismatch"}},
		{"UPDATE streams SET count = 4 WHERE workspace = 'a'", []string{"ledger_row a_4 row is after", "head_mismatch"}},
		{"UPDATE streams SET count = 6 WHERE workspace = 'a'", []string{"ledger_missing"}},
		{"UPDATE streams SET workspace = 'c' WHERE workspace = 'a'", []string{"ledger_row a_0 its row has another stream", "ledger_row a_1", "ledger_row a_2", "ledger_row a_3", "ledger_row a_4"}},
		{"PRAGMA foreign_keys = 0; DELETE FROM streams WHERE workspace = 'b'", []string{"ledger_file", "ledger_file", "ledger_file", "ledger_file", "ledger_file", "ledger_row b_0 row is after", "ledger_row b_1", "ledger_row b_2", "ledger_row b_3", "ledger_row b_4"}},
	} {
		path := filled(t, 5)
		execute(t, path, test.edit)
		_, list := faults(t, path, v)
		ok := len(list) == len(test.want)
		for i := 0; ok && i < len(list); i++ {
			ok = strings.HasPrefix(list[i], test.want[i])
		}
		if !ok {
			t.Errorf("%s:\ngot  %q\nwant %q", test.edit, list, test.want)
		}

		// Without the Auditor methods, only the information that the database reports about itself
		// is missing.
		want := slices.DeleteFunc(list, func(f string) bool {
			return strings.HasPrefix(f, ledger.FaultFile) || strings.Contains(f, "after the end of every stream")
		})
		c, alone := faultsOf(t, path, v, func(l *sqlite.Ledger) ledger.Reader { return struct{ ledger.Reader }{l} })
		if !slices.Equal(alone, want) || c.Audited || c.Marked {
			t.Errorf("%s: a reader alone:\ngot  %q, audited %v\nwant %q", test.edit, alone, c.Audited, want)
		}
	}
}

// dump reads all rows.
func dump(t *testing.T, path string) (list []string) {
	t.Helper()
	l, err := sqlite.OpenReadOnly(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for e, err := range l.Walk(context.Background(), ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(e.Sequence, e.Position, e.ID, e.Hash, string(e.JSON)))
	}
	return list
}

// TestCheckPages verifies that damage to any used page of the file is detected. A check must never
// report a damaged ledger as free of faults, or fail without an explanation.
func TestCheckPages(t *testing.T) {
	v := verifier(t, receipt.Policy{IntegrityOnly: true})
	path := filled(t, 9)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	sound := dump(t, path)
	named, unreadable := 0, 0
	for at := page; at < len(whole); at += page {
		for _, offset := range []int{0, 100, page - 300} {
			data := append([]byte(nil), whole...)
			for i := range 200 {
				data[at+offset+i] ^= 0x5a
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, list := faults(t, path, v)
			if len(list) == 0 && !slices.Equal(dump(t, path), sound) { // some bytes in a page are not used
				t.Errorf("page %d, byte %d: nothing is found", at/page+1, offset)
			}
			for _, f := range list {
				if strings.Contains(f, " a_") || strings.Contains(f, " b_") {
					named++
					if strings.HasPrefix(f, ledger.FaultUnreadable) {
						unreadable++
					}
				}
			}
		}
	}
	if named < 10 || unreadable == 0 {
		t.Errorf("%d damaged receipts were named, %d of them unreadable, expected more", named, unreadable)
	}
}

// TestCheckSpliced verifies that, if each receipt is signed and matches its row but the chain is
// broken, only the break is reported. In the three cases, a receipt was removed and the remaining
// receipts were renumbered, a receipt has a different parent, or a receipt has no parent.
func TestCheckSpliced(t *testing.T) {
	ctx, v := context.Background(), verifier(t, receipt.Policy{})
	forge := func(t *testing.T, path, id string, head chain.Head) {
		t.Helper()
		r, err := receipt.Seal(draft(id, "a"), head)
		if err == nil {
			r, err = r.Sign(ctx, signer(t))
		}
		if err != nil {
			t.Fatal(err)
		}
		previous := "NULL"
		if !head.IsZero() {
			previous = fmt.Sprintf("x'%x'", head.Hash[:])
		}
		hash := r.Hash()
		execute(t, path, "DROP INDEX IF EXISTS receipts_previous")
		execute(t, path, fmt.Sprintf("UPDATE receipts SET hash = x'%x', previous = %s, json = CAST('%s' AS BLOB) WHERE receipt_id = '%s'", hash[:], previous, r.JSON(), id))
		execute(t, path, fmt.Sprintf("UPDATE streams SET head = x'%x' WHERE workspace = 'a' AND count = 3", hash[:]))
	}
	for name, test := range map[string]struct {
		edit     func(t *testing.T, path string)
		verified int
		want     string
	}{
		"cut out": {func(t *testing.T, path string) {
			execute(t, path, "DELETE FROM receipts WHERE receipt_id = 'a_1'")
			execute(t, path, "UPDATE receipts SET position = 2 WHERE receipt_id = 'a_2'")
			execute(t, path, "UPDATE streams SET count = 2 WHERE workspace = 'a'")
		}, 5, "chain_break a_2"},
		"another parent": {func(t *testing.T, path string) {
			forge(t, path, "a_2", chain.Head{Hash: canon.Sum([]byte("another"))})
		}, 6, "chain_break a_2"},
		"no parent": {func(t *testing.T, path string) { forge(t, path, "a_2", chain.Head{}) }, 6, "chain_break a_2"},
	} {
		path := filled(t, 3)
		test.edit(t, path)
		if c, list := faults(t, path, v); len(list) != 1 || !strings.HasPrefix(list[0], test.want) || c.Verified != test.verified {
			t.Errorf("%s: %d verified, %q, want %s", name, c.Verified, list, test.want)
		}
	}
}
